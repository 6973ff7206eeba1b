import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import { costNanos, type Price } from '../../../../../shared/prices/price.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';

export const NOW = Date.UTC(2026, 10, 21, 12, 34, 56, 789);

export const PRICE: Price = {
  version: 'price_1',
  effective_at: 0,
  prompt_nanos: 50_000_000,
  cached_prompt_nanos: 5_000_000,
  completion_nanos: 200_000_000,
};
export const LOWER: Price = { ...PRICE, version: 'price_2', completion_nanos: 100_000_000 };

const TOKENS = { prompt_tokens: 120, cached_tokens: 100, completion_tokens: 40 };
const costAt = (price: Price): bigint => costNanos(price, { promptTokens: 120, cachedTokens: 100, completionTokens: 40 });

/** An event with every field that a request shows. */
export const fullEvent = (organization: string, keyId: string, fields: Partial<UsageEvent> = {}): UsageEvent => ({
  request_id: newRequestId(NOW),
  key_id: keyId,
  org_id: organization,
  model: 'qwen3-8b',
  route: '/v1/chat/completions',
  stream: true,
  ...TOKENS,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: NOW + 7,
  time_to_first_token_ms: 90,
  duration_ms: 1_234,
  step_ends_ms: [1, 7, 8, 30, 60, 1_220],
  limiter: { in_flight: 3, concurrency: 32, requests_left: 57, tokens_left: 9_000 },
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tries: 2,
  ignored: ['logit_bias', 'speculation'],
  cost_nanos: costAt(PRICE),
  price_version: PRICE.version,
  endpoint: 'qwen-endpoint',
  component: 'qwen-component',
  user: 'ann',
  metadata: { team: 'docs', depth: { n: 1 } },
  ...fields,
});

/** The event that rates a request again at the lower price. */
export const ratedAgain = (event: UsageEvent): UsageEvent => ({
  ...event,
  request_id: `${event.request_id}#2`,
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  time_to_first_token_ms: null,
  duration_ms: 0,
  cost_nanos: costAt(LOWER) - event.cost_nanos,
  price_version: LOWER.version,
  rerate: { id: 'rr_1', from: PRICE.version },
});
