import { ApiError } from '../http/errors.ts';
import type { Dimension, Limits, Refusal } from './window.ts';

const sentence = (dimension: Dimension, limits: Limits): string =>
  ({
    requests: `The limit of ${limits.requestsPerMinute} requests per minute is reached`,
    tokens: `The limit of ${limits.tokensPerMinute} tokens per minute is reached`,
    concurrency: `The limit of ${limits.concurrency} concurrent requests is reached`,
  })[dimension];

/** The caller's own limit: 429, with the wait in whole seconds and in milliseconds. */
export class RateLimited extends ApiError {
  constructor({ dimension, retryAfterMs }: Refusal, limits: Limits, headers: Record<string, string>) {
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    super({
      status: 429,
      type: dimension,
      code: 'rate_limit_exceeded',
      message: `${sentence(dimension, limits)}. Try again in ${seconds} s.`,
      headers: { ...headers, 'retry-after': String(seconds), 'retry-after-ms': String(Math.max(1, Math.ceil(retryAfterMs))) },
    });
  }
}

/** A request that is larger than the whole limit: waiting does not help, so clients are told not to retry. */
export class RequestExceedsLimit extends ApiError {
  constructor(dimension: Dimension, limits: Limits, tokens: number, headers: Record<string, string>) {
    const message =
      dimension === 'tokens'
        ? `This request needs up to ${tokens} tokens (prompt and max_tokens), but the key's limit is ${limits.tokensPerMinute} tokens per minute. Send less, or lower max_tokens.`
        : `${sentence(dimension, limits)}: this key may not send requests.`;
    super({
      status: 429,
      type: dimension,
      code: 'rate_limit_exceeded',
      message,
      headers: { ...headers, 'retry-after': '60', 'x-should-retry': 'false' },
    });
  }
}
