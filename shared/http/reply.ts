import { EXPOSED_HEADERS } from './reply-headers.ts';

/** A handler's result: API Gateway's proxy result. On streaming routes the body can be a stream. */
export interface Reply<Body = string> {
  statusCode: number;
  headers: Record<string, string>;
  body: Body;
}

// Browsers can call the API with a bearer key, without cookies, and can read the listed headers.
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
};

/** The headers of every reply. */
export const commonHeaders = (requestId: string, contentType: string): Record<string, string> => ({
  'content-type': contentType,
  'x-request-id': requestId,
  'request-id': requestId,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  ...CORS,
});

/** A JSON reply. */
export const jsonReply = (requestId: string, statusCode: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  statusCode,
  headers: { ...commonHeaders(requestId, 'application/json'), ...headers },
  body: JSON.stringify(body),
});

/** The reply to a browser's preflight request for a path with these methods. */
export const preflightReply = (requestId: string, methods: readonly string[]): Reply => ({
  statusCode: 204,
  headers: {
    ...commonHeaders(requestId, 'text/plain'),
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': '*, authorization',
    'access-control-max-age': '86400',
    allow: methods.join(', '),
  },
  body: '',
});
