import type { TelemetrySource } from '../../../functions/telemetry/export-bodies.ts';
import type { KeyValue } from '../../../functions/telemetry/otlp/wire.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';

export const ARRIVED_AT = Date.UTC(2026, 10, 23, 4, 0, 0);

export const installation: TelemetrySource = { name: 'sluice', version: 'abc123', region: 'eu-west-1', process: 'process-1' };

export const interval = { startNanos: BigInt(ARRIVED_AT) * 1_000_000n, endNanos: BigInt(ARRIVED_AT + 10_000) * 1_000_000n };

/** The event of a streamed chat completion: arrived at `ARRIVED_AT`, 500 ms long. */
export const chatEvent = (more: Partial<UsageEvent> = {}): UsageEvent => ({
  request_id: newRequestId(ARRIVED_AT),
  key_id: 'key_1',
  org_id: 'org_1',
  model: 'llama-3.1-8b',
  route: '/v1/chat/completions',
  stream: true,
  prompt_tokens: 120,
  cached_tokens: 64,
  completion_tokens: 41,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: ARRIVED_AT + 2,
  time_to_first_token_ms: 90,
  duration_ms: 500,
  step_ends_ms: [2, 9, 10, 12, 60, 490],
  limiter: { in_flight: 3, concurrency: 10, requests_left: 57, tokens_left: 90_000 },
  cost_nanos: 1_234_567n,
  price_version: 'v1',
  endpoint: 'llama',
  component: 'llama-1',
  user: 'user-canary',
  user_id: 'user-id-canary',
  metadata: { team: 'metadata-canary' },
  ...more,
});

/** Attributes as an object: integers as bigints. */
export const attributesOf = (attributes: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      if ('intValue' in value) return [key, BigInt(value.intValue)];
      return [key, 'arrayValue' in value ? value.arrayValue.values.map((element) => Object.values(element)[0]) : Object.values(value)[0]];
    }),
  );
