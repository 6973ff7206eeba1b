import * as z from 'zod';
import { ApiError } from '../../../shared/http/errors.ts';
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

/** The error body of the Messages API, which also ends a stream that failed. */
export const MessagesErrorBody = z.object({
  type: z.literal('error'),
  error: z.object({
    type: z.string(),
    message: ErrorBody.shape.error.shape.message,
    details: z
      .object({ error_code: z.string().nullable(), param: ErrorBody.shape.error.shape.param, wake: ErrorBody.shape.error.shape.wake })
      .optional()
      .meta({ description: 'Absent if API Gateway rejected the request.' }),
    code: z.string().optional().meta({ description: 'Only if API Gateway rejected the request.' }),
    param: z.null().optional(),
  }),
  request_id: z.string(),
});

/** The error body of OAuth, with our request id. */
export const OAuthErrorBody = z.object({
  error: z.string().meta({ description: 'The code: https://www.rfc-editor.org/rfc/rfc6749#section-5.2' }),
  error_description: z.string().meta({ description: 'What is wrong, and what to do.' }),
  request_id: z.string(),
});

export const EXAMPLE_REQUEST_ID = 'req_VbdBUPc8fK2mQx0ZpLw4RtYvB';

/** The error response with one status, with errors as examples, so that the texts match. */
export interface ErrorReply {
  description: string;
  schema: 'Error' | 'Unauthorized' | 'MessagesError' | 'OAuthError';
  headers: readonly ReplyHeader[];
  errors: Record<string, ApiError>;
}

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
