import * as z from 'zod';
import { ApiError, toWire } from '../../shared/http/errors.ts';
import type { ReplyHeader } from '../../shared/http/reply-headers.ts';

/** The body of interface 2.6, for every status but 401. */
export const ErrorBody = z.object({
  error: z.object({
    message: z.string().meta({ description: 'What was wrong, and what to do.' }),
    type: z.string(),
    param: z.string().nullable().meta({ description: 'The property at fault.' }),
    code: z.string().nullable(),
  }),
  request_id: z.string(),
});

/** A 401's `error` is a string. */
export const UnauthorizedBody = z.object({ error: z.string(), code: z.string().nullable(), request_id: z.string() });

export const EXAMPLE_REQUEST_ID = 'req_VbdBUPc8fK2mQx0ZpLw4RtYvB';

/** The replies of one status to requests that fail. */
export interface ErrorReply {
  description: string;
  schema: 'Error' | 'Unauthorized';
  headers: readonly ReplyHeader[];
  examples: Record<string, { value: unknown }>;
}

/** Examples in the very words of the errors. */
export const examplesOf = (errors: Record<string, ApiError>): Record<string, { value: unknown }> =>
  Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, { value: toWire(error, EXAMPLE_REQUEST_ID) }]));

/** What a check says of something that it refuses. */
export const refusalOf = (check: () => unknown): ApiError => {
  try {
    check();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('An example of a request that is refused is taken.');
};

/** What the gateway says of a body that is too large for it. */
export const requestTooLarge = (): ApiError =>
  new ApiError({
    status: 413,
    type: 'invalid_request_error',
    code: 'request_too_large',
    message: 'The request is too large: a body may have up to 4.5 MB.',
  });
