import { MINUTE_MS } from './sliding-window.ts';

/** A duration as OpenAI writes it in these headers: `850ms`, `12.5s`, `1m30s`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const minutes = Math.floor(ms / MINUTE_MS);
  const seconds = Math.ceil(ms - minutes * MINUTE_MS) / 1_000;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
};

/** One limit as it stands. */
export interface RateLimit {
  limit: number;
  remaining: number;
  /** Until it is whole again, if nothing else comes. */
  resetMs: number;
}

/** The `x-ratelimit-*` headers: each limit, what is left of it now, and when it will be whole again. */
export const rateLimitHeaders = ({ requests, tokens }: { requests: RateLimit; tokens: RateLimit }): Record<string, string> => ({
  'x-ratelimit-limit-requests': String(requests.limit),
  'x-ratelimit-remaining-requests': String(requests.remaining),
  'x-ratelimit-reset-requests': formatDuration(requests.resetMs),
  'x-ratelimit-limit-tokens': String(tokens.limit),
  'x-ratelimit-remaining-tokens': String(tokens.remaining),
  'x-ratelimit-reset-tokens': formatDuration(tokens.resetMs),
});
