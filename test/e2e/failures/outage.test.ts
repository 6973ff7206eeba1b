import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';

// These calls write events. Admissions use others, so requests are still admitted.
const WRITES = new Set(['PutItem', 'TransactWriteItems']);

let database: TestDatabase;
let proxy: FaultProxy;
let run: TestRun;
beforeAll(async () => {
  database = await startTestDatabase();
  proxy = await startFaultProxy(database.url, { random: () => 0, mayFail: (operation) => WRITES.has(operation) });
  process.env.DYNAMODB_ENDPOINT = proxy.url;
  try {
    run = await startTestRun();
  } finally {
    delete process.env.DYNAMODB_ENDPOINT;
  }
});
afterAll(async () => {
  await run.close();
  await proxy.close();
  await database.close();
});

test('answers that end while the database takes no events are charged when it is back', async () => {
  const { secret, key_id } = await run.createKey();
  proxy.faults = { failed: 1 };
  const used = await Promise.all(
    [true, false].map(async (stream) => {
      const response = await fetch(`${run.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: run.model,
          messages: [{ role: 'user', content: 'Hello' }],
          max_tokens: 5,
          temperature: 0,
          stream,
          ...(stream && { stream_options: { include_usage: true } }),
        }),
      });
      expect(response.status).toBe(200);
      const text = await response.text();
      if (stream) expect(text).toContain('[DONE]');
      return Number(/"completion_tokens":(\d+)/.exec(text)?.[1]);
    }),
  );
  expect(used).toEqual([5, 5]);
  expect(await run.eventsOf(key_id)).toEqual([]);
  const refused = proxy.seen.failed;
  // `metering` tries in vain.
  await eventually(async () => proxy.seen.failed > refused, 'the settlement has been tried again');

  proxy.faults = {};
  await eventually(async () => (await run.eventsOf(key_id)).length === 2, 'both are settled');
  for (const event of await run.eventsOf(key_id))
    expect(event).toMatchObject({ outcome: 'completed', source: 'runtime', completion_tokens: 5, cost_nanos: expect.any(BigInt) });
  const spent = (await run.eventsOf(key_id)).reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
  expect(spent).toBeGreaterThan(0n);
  expect((await run.limiters.whole(key_id))?.fl).toEqual({});
});
