import { type Limits, MINUTE_MS, remaining, resetMs, type Usage } from './window.ts';

/** A duration as OpenAI writes it in these headers: `850ms`, `12.5s`, `1m30s`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const minutes = Math.floor(ms / MINUTE_MS);
  const seconds = Math.ceil(ms - minutes * MINUTE_MS) / 1_000;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
};

/** The `x-ratelimit-*` headers: each limit, what is left of it now, and when it will be whole again. */
export const rateLimitHeaders = (limits: Limits, usage: Usage, nowMs: number): Record<string, string> => ({
  'x-ratelimit-limit-requests': String(limits.requestsPerMinute),
  'x-ratelimit-remaining-requests': String(remaining(limits.requestsPerMinute, usage.requests, nowMs)),
  'x-ratelimit-reset-requests': formatDuration(resetMs(usage.requests, nowMs)),
  'x-ratelimit-limit-tokens': String(limits.tokensPerMinute),
  'x-ratelimit-remaining-tokens': String(remaining(limits.tokensPerMinute, usage.tokens, nowMs)),
  'x-ratelimit-reset-tokens': formatDuration(resetMs(usage.tokens, nowMs)),
});
