import type { RequestIds } from './request-ids.ts';

type HeaderValue = string | number | boolean;

/** The head of a function's response, buffered or streamed. */
export interface ReplyHead {
  statusCode: number;
  headers: Readonly<Record<string, HeaderValue>>;
  multiValueHeaders: Readonly<Record<string, readonly HeaderValue[]>>;
  cookies: readonly string[];
}

const DROPPED = new Set(['connection', 'keep-alive', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade']);

// API Gateway renames these to x-amzn-remapped-…
const REMAPPED = new Set([
  'authorization',
  'content-length',
  'content-md5',
  'date',
  'host',
  'max-forwards',
  'server',
  'user-agent',
  'www-authenticate',
]);

/**
 * Builds the headers that a caller receives from a function's response: alternating names and values, for
 * `response.writeHead`. multiValueHeaders override headers of the same name. The default content type is
 * application/json.
 */
export const replyHeaders = (head: ReplyHead, ids: RequestIds): string[] => {
  const byName = new Map<string, { name: string; values: readonly HeaderValue[] }>();
  for (const [name, value] of Object.entries(head.headers)) byName.set(name.toLowerCase(), { name, values: [value] });
  for (const [name, values] of Object.entries(head.multiValueHeaders)) byName.set(name.toLowerCase(), { name, values });
  if (head.cookies.length > 0) byName.set('set-cookie', { name: 'Set-Cookie', values: head.cookies });
  if (!byName.has('content-type')) byName.set('content-type', { name: 'Content-Type', values: ['application/json'] });
  const flat: string[] = gatewayHeaders(ids);
  for (const [key, { name, values }] of byName) {
    if (DROPPED.has(key)) continue;
    const sentName = REMAPPED.has(key) ? `x-amzn-remapped-${key}` : name;
    for (const value of values) flat.push(sentName, String(value));
  }
  return flat;
};

/** The headers that API Gateway adds to every response: alternating names and values. */
export const gatewayHeaders = (ids: RequestIds): string[] => ['x-amzn-requestid', ids.requestId, 'x-amz-apigw-id', ids.extendedRequestId];
