/** The state of the key's limits, on every reply to a request with a valid key, except lists of models. */
export const LIMIT_HEADERS = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
] as const;

/** Announce that a model will be removed. */
export const DEPRECATION_HEADERS = ['deprecation', 'sunset', 'x-sluice-successor'] as const;

/** On replies of routes that accept an idempotency key. */
export const IDEMPOTENCY_HEADERS = ['x-sluice-idempotency', 'x-sluice-original-request-id', 'idempotent-replayed'] as const;

/** On replies to inference requests. */
export const INFERENCE_HEADERS = [...LIMIT_HEADERS, 'x-sluice-ignored', 'x-sluice-fallback', ...DEPRECATION_HEADERS] as const;

/** The headers that a browser may read, in the order of `access-control-expose-headers`. */
export const EXPOSED_HEADERS = [
  'x-request-id',
  'request-id',
  'etag',
  'link',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-sluice-ignored',
  'x-sluice-fallback',
  ...DEPRECATION_HEADERS,
  ...IDEMPOTENCY_HEADERS,
  ...LIMIT_HEADERS,
] as const;

/** Every header that the reference documents. */
export type ReplyHeader = (typeof EXPOSED_HEADERS)[number] | 'cache-control' | 'www-authenticate';
