import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { dayOf } from '../../shared/time/utc.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { type Control, controlOf } from '../support/clients/control.ts';
import { eventually } from '../support/eventually.ts';
import type { FaultProxy } from '../support/faults/fault-proxy.ts';
import { upgrade } from './run.ts';
import type { UpgradeRun } from './upgrade-run.ts';

// Longer than any request can be in flight.
const LATER_SECONDS = 15 * 60;
const BUDGET = 1_000_000_000n;

let proxy: FaultProxy;
let run: UpgradeRun;
let control: Control;
beforeAll(async () => {
  ({ proxy, run } = await upgrade.start());
  control = controlOf(run);
});

const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
const chat = () => ({
  model: run.model,
  messages: [{ role: 'user' as const, content: 'Tell me about rivers.' }],
  max_tokens: 8,
  temperature: 1,
});
const keyWithBudget = () => run.createKey({ total_budget_nanos: BUDGET });

// A key has nothing in flight, and has spent the cost of its events.
const expectExact = async (keyId: string): Promise<void> => {
  const item = await run.limiters.whole(keyId);
  const cost = (await run.eventsOf(keyId)).reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
  expect({ inFlight: item?.fl, spent: BigInt(item?.spent ?? 0) }).toEqual({ inFlight: {}, spent: cost });
};

const post = async (path: string, method: 'PUT' | 'POST' | 'DELETE', body?: object): Promise<void> => {
  const response = await fetch(`${run.lambda_endpoint}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  expect(response.ok).toBe(true);
};

describe.each([
  { first: 'the last release', second: 'this version', firstShare: 1, secondShare: 0, processes: 'inference:other' },
  { first: 'this version', second: 'the last release', firstShare: 0, secondShare: 1, processes: 'inference' },
])('work that $first began and $second goes on with:', ({ firstShare, secondShare, processes }) => {
  test('settles a request whose function crashed by the sweep', async () => {
    const { secret, key_id } = await keyWithBudget();
    await run.setShare(firstShare);
    await run.control('container', { token_delay_ms: 2_000 });
    try {
      const stream = await clientOf(secret).chat.completions.create({ ...chat(), stream: true });
      const reading = Array.fromAsync(stream).then(
        () => 'whole',
        () => 'broken',
      );
      for (const pid of (await run.facts()).pids.functions[processes] ?? []) process.kill(pid, 'SIGKILL');
      expect(await reading).toBe('broken');
    } finally {
      await run.control('container');
    }
    expect(Object.keys((await run.limiters.whole(key_id))?.fl ?? {})).toHaveLength(1);
    await run.setShare(secondShare);
    await post('/clock', 'PUT', { offset_seconds: LATER_SECONDS });
    try {
      await post('/2015-03-31/functions/metering/invocations', 'POST', {});
      await eventually(async () => (await run.eventsOf(key_id)).length === 1, 'the sweep has settled the request');
      await eventually(async () => Object.keys((await run.limiters.whole(key_id))?.fl ?? {}).length === 0, 'nothing is in flight');
    } finally {
      await post('/clock', 'DELETE');
    }
    expect(await run.eventsOf(key_id)).toEqual([expect.objectContaining({ outcome: 'orphaned' })]);
    await expectExact(key_id);
  });

  test('makes a settlement that waits in the queue', async () => {
    const { secret, key_id } = await keyWithBudget();
    await run.setShare(firstShare);
    proxy.faults = { failed: 1 };
    try {
      await clientOf(secret).chat.completions.create(chat());
      expect(await run.eventsOf(key_id)).toEqual([]);
    } finally {
      await run.setShare(secondShare);
      proxy.faults = {};
    }
    await eventually(async () => (await run.eventsOf(key_id)).length === 1, 'the request is settled');
    await eventually(async () => Object.keys((await run.limiters.whole(key_id))?.fl ?? {}).length === 0, 'nothing is in flight');
    expect(await run.eventsOf(key_id)).toEqual([expect.objectContaining({ outcome: 'completed', source: 'runtime' })]);
    await expectExact(key_id);
  });

  test('gives a repeated request the same answer by its idempotency key, and charges it once', async () => {
    const { secret, key_id } = await keyWithBudget();
    const client = clientOf(secret);
    const key = { headers: { 'Idempotency-Key': 'a' } };
    await run.setShare(firstShare);
    const first = await client.chat.completions.create(chat(), key);
    await run.setShare(secondShare);
    expect(await client.chat.completions.create(chat(), key)).toEqual(first);
    await expect(client.chat.completions.create({ ...chat(), max_tokens: 9 }, key)).rejects.toMatchObject({ status: 422 });
    expect(await run.eventsOf(key_id)).toHaveLength(1);
    await expectExact(key_id);
  });

  test('retrieves, continues and deletes a stored response', async () => {
    const client = clientOf((await run.createKey()).secret);
    await run.setShare(firstShare);
    const made = await client.responses.create({ model: run.model, input: 'Hello', max_output_tokens: 16 });
    await run.setShare(secondShare);
    expect((await client.responses.retrieve(made.id)).output).toEqual(made.output);
    const next = await client.responses.create({ model: run.model, input: 'Go on.', max_output_tokens: 16, previous_response_id: made.id });
    expect(next.previous_response_id).toBe(made.id);
    await client.responses.delete(made.id);
    await run.setShare(firstShare);
    await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });

  test('uses, changes and revokes a key', async () => {
    await run.setShare(firstShare);
    const organization = await control.createOrganization();
    const { token } = await control.createUser({ role: 'owner', organization: organization.id });
    const body = { name: 'A key', limits: { requests_per_minute: 100 } };
    const created = await control.call('POST', '/v1/api-keys', { token, body });
    expect(created).toMatchObject({ status: 201 });
    await run.setShare(secondShare);
    const client = clientOf(created.body.secret);
    await client.chat.completions.create(chat());
    const { id } = created.body;
    const { headers } = await control.call('GET', `/v1/api-keys/${id}`, { token });
    const changing = { token, headers: { 'if-match': headers.get('etag') ?? '' }, body: { limits: { requests_per_minute: 1 } } };
    expect(await control.call('PATCH', `/v1/api-keys/${id}`, changing)).toMatchObject({ status: 200 });
    await run.setShare(firstShare);
    await expect(client.chat.completions.create(chat())).rejects.toMatchObject({ status: 429 });
    await run.setShare(secondShare);
    expect((await control.call('DELETE', `/v1/api-keys/${id}`, { token })).status).toBeLessThan(300);
    await run.setShare(firstShare);
    await expect(client.chat.completions.create(chat())).rejects.toMatchObject({ status: 401 });
  });

  test('adds to a day of totals', async () => {
    const { secret, key_id } = await run.createKey();
    const { listDays } = createRollupStore(run.database, run.tables.Usage as string);
    const counted = async (): Promise<number> =>
      (await Array.fromAsync(listDays(key_id, dayOf(Date.now() - 60_000), dayOf(Date.now())))).reduce(
        (sum, { totals }) => sum + totals.events,
        0,
      );
    for (const [i, share] of [firstShare, secondShare, firstShare].entries()) {
      await run.setShare(share);
      await clientOf(secret).chat.completions.create(chat());
      await eventually(async () => (await counted()) === i + 1, `the totals have ${i + 1} events`);
    }
  });
});
