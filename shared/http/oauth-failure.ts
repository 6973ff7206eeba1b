import type { ApiError } from './errors.ts';

/** The route that issues access tokens to programs, which expect errors in OAuth's shape. */
export const TOKEN_PATH = '/v1/auth/token';

export const isTokenPath = (path: string): boolean => path === TOKEN_PATH;

interface OAuthFailure {
  status: number;
  headers: Record<string, string>;
  body: { error: string; error_description: string; request_id: string };
}

// https://www.rfc-editor.org/rfc/rfc6749#section-5.2 and https://www.rfc-editor.org/rfc/rfc8693#section-2.2.2
const CODES: ReadonlySet<string | null> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
]);

const codeOf = ({ code, status }: ApiError): string => {
  if (code !== null && CODES.has(code)) return code;
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
};

// The characters that the RFC allows in a description.
const inAscii = (text: string): string => text.replaceAll(/["\\]/g, "'").replaceAll(/[^ -~]/g, '?');

/** The body of an error as OAuth clients expect it. `error` is a string, which interface 2.6 allows. */
export const toOAuthError = (error: ApiError, requestId: string): OAuthFailure['body'] => ({
  error: codeOf(error),
  error_description: inAscii(error.message),
  request_id: requestId,
});

/** An error as OAuth clients expect it, with its status and headers. */
export const toOAuthFailure = (error: ApiError, requestId: string): OAuthFailure => ({
  status: error.status,
  headers: error.headers,
  body: toOAuthError(error, requestId),
});
