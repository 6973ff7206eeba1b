/**
 * When a request can be retried: in whole seconds, as HTTP defines it, and in milliseconds, as OpenAI's clients
 * prefer it.
 */
export const waitHeaders = (retryAfterMs: number): { 'retry-after': string; 'retry-after-ms': string } => ({
  'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))),
  'retry-after-ms': String(Math.max(1, Math.ceil(retryAfterMs))),
});
