import { headers } from './headers.ts';

const {
  'x-request-id': requestId,
  'retry-after': retryAfter,
  'x-should-retry': shouldRetry,
  etag,
  'cache-control': cacheControl,
} = headers;

/** The headers of the control plane's replies: by their names on the wire, but for the ETag of a resource, which is not that of a file. */
export const controlHeaders = {
  'x-request-id': requestId,
  'retry-after': retryAfter,
  'x-should-retry': shouldRetry,
  'www-authenticate': { description: 'How a token is sent.', schema: { type: 'string' }, example: 'Bearer' },
  etag,
  'cache-control': cacheControl,
  'version-etag': {
    description: 'The version of the resource. Sent back in `If-Match`, it lets a change happen only if nobody else made one meanwhile.',
    schema: { type: 'string' },
    example: '"3"',
  },
} as const;

export type ControlHeaderName = keyof typeof controlHeaders;
