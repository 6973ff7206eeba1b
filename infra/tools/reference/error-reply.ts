import * as z from 'zod';
import { ApiError, toWire } from '../../../shared/http/errors.ts';
import type { ReplyHeader } from '../../../shared/http/reply-headers.ts';

/** The error body of interface 2.6, for every status except 401. */
export const ErrorBody = z.object({
  type: z.literal('error').optional().meta({ description: 'Only if API Gateway rejected the request.' }),
  error: z.object({
    message: z.string().meta({ description: 'What is wrong, and what to do.' }),
    type: z.string(),
    param: z.string().nullable().meta({ description: 'The field, parameter or header that caused the error.' }),
    code: z.string().nullable(),
    wake: z
      .object({
        started_at: z.int().meta({ description: 'When the deployment began to start. Unix time in seconds.' }),
        expected_at: z.int().meta({ description: 'When it is expected to be in service. Unix time in seconds.' }),
        p50_seconds: z.int().meta({ description: 'How long half of the starts like this one take at most.' }),
        p90_seconds: z.int().meta({ description: 'How long nine of ten take at most.' }),
      })
      .optional()
      .meta({ description: 'With the code `deployment_waking`: when the deployment is expected to be in service.' }),
  }),
  request_id: z.string(),
});

/** The error body of a 401, whose `error` is a string. */
export const UnauthorizedBody = z.object({ error: z.string(), code: z.string().nullable(), request_id: z.string() });

export const EXAMPLE_REQUEST_ID = 'req_VbdBUPc8fK2mQx0ZpLw4RtYvB';

/** The error response with one status. */
export interface ErrorReply {
  description: string;
  schema: 'Error' | 'Unauthorized';
  headers: readonly ReplyHeader[];
  examples: Record<string, { value: unknown }>;
}

/** Creates examples from the errors themselves, so that the texts match. */
export const examplesOf = (errors: Record<string, ApiError>): Record<string, { value: unknown }> =>
  Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, { value: toWire(error, EXAMPLE_REQUEST_ID) }]));

/** The error that a check throws. */
export const refusalOf = (check: () => unknown): ApiError => {
  try {
    check();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('The check accepted the example of an invalid request.');
};

/** API Gateway's response to a body that is too large. */
export const requestTooLarge = (): ApiError =>
  new ApiError({
    status: 413,
    type: 'request_too_large',
    code: 'request_too_large',
    message: 'The request body is too large. Send at most 4.5 MB.',
  });
