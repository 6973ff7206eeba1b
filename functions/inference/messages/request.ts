import * as z from 'zod';

/** A request of the Messages API. */
export interface MessagesRequest {
  model: string;
  stream?: boolean | null | undefined;
  user?: string | null | undefined;
  body: { max_tokens: number };
}

const body = z.looseObject({ model: z.string(), stream: z.boolean().nullish(), max_tokens: z.int().min(1) });

export const messagesRequest: z.ZodType<MessagesRequest> = body.transform((read) => ({
  model: read.model,
  stream: read.stream,
  body: read,
}));
