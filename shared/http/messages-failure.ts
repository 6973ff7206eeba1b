import type { ApiError } from './errors.ts';

interface MessagesFailure {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

// By status, where the code does not decide.
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

const TYPES_OF_CODES: Readonly<Record<string, string>> = { upstream_timeout: 'timeout_error', upstream_error: 'api_error' };

const statusOf = ({ status, code }: ApiError): number => (code === 'insufficient_quota' ? 402 : status === 422 ? 400 : status);

// Clients sleep for as long as a reply says; Claude Code fails at once above this.
const MAX_WAIT_SECONDS = 60;

const retryHeaders = (status: number, headers: Record<string, string>): Record<string, string> =>
  (status === 402 || Number(headers['retry-after'] ?? 0) > MAX_WAIT_SECONDS) && headers['x-should-retry'] === undefined
    ? { 'x-should-retry': 'false' }
    : {};

/** The body of an error of the Messages API, also of the event that ends a failed stream. */
export const toMessagesError = (error: ApiError, requestId: string): Record<string, unknown> => {
  const type = TYPES_OF_CODES[error.code ?? ''] ?? TYPES[statusOf(error)] ?? 'api_error';
  const details = { error_code: error.code, param: error.param, ...error.details };
  return { type: 'error', error: { type, message: error.message, details }, request_id: requestId };
};

/**
 * An error as clients of the Messages API expect it: a lack of money is a 402, and waits of more than a minute are not
 * repeated (https://docs.claude.com/en/api/errors).
 */
export const toMessagesFailure = (error: ApiError, requestId: string): MessagesFailure => {
  const status = statusOf(error);
  return { status, headers: { ...error.headers, ...retryHeaders(status, error.headers) }, body: toMessagesError(error, requestId) };
};
