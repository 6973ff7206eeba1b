import { EXPOSED_HEADERS } from './reply-headers.ts';

/** What a handler returns: API Gateway's proxy result, whose body may be a stream on streaming routes. */
export interface Reply<Body = string> {
  statusCode: number;
  headers: Record<string, string>;
  body: Body;
}

/** Browsers may call with a bearer key and without cookies, and may read limits and request ids. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
};

/** The headers of every reply. */
export const commonHeaders = (requestId: string, contentType: string): Record<string, string> => ({
  'content-type': contentType,
  'x-request-id': requestId,
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

/** The answer to a browser's preflight for a path that takes `methods`. */
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
