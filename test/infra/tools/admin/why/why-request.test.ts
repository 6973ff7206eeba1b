import { type CloudWatchLogsClient, StartQueryCommand } from '@aws-sdk/client-cloudwatch-logs';
import { expect, test } from '@jest/globals';
import { whyRequest } from '../../../../../infra/tools/admin/why/why-request.ts';
import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';

const ADMITTED_MS = Date.UTC(2026, 10, 21, 12);

const event: UsageEvent = {
  request_id: newRequestId(ADMITTED_MS),
  key_id: 'key_1',
  org_id: 'org_1',
  model: 'm',
  prompt_tokens: 7,
  cached_tokens: 0,
  completion_tokens: 0,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: ADMITTED_MS,
  time_to_first_token_ms: 5,
  duration_ms: 10,
  cost_nanos: 1_250_000_000n,
  price_version: '1',
};

const logs = {
  send: async (command: unknown) =>
    command instanceof StartQueryCommand
      ? { queryId: 'query_1' }
      : { status: 'Complete', results: [[{ field: 'key_id', value: event.key_id }]] },
} as unknown as CloudWatchLogsClient;

test("shows what a request cost in the seller's currency", async () => {
  const requests = async () => ({
    limiters: { get: async () => undefined, getMany: async () => [] },
    usage: { get: async () => event, listByBucket: async function* () {} },
    models: { get: async () => undefined, retiredPrices: async () => [] },
  });
  const currency = async () => ({ symbol: '€' });
  const text = await whyRequest({ logs, requests, currency }, event.request_id, 'sluice', { startMs: 0, endMs: 0 });
  expect(text).toMatch(/^cost +€1\.25 /m);
});
