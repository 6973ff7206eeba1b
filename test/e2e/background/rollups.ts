import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { rebuild } from '../../../infra/tools/admin/rebuild/rebuild-totals.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { createRollupStore } from '../../../shared/usage/rollup-store.ts';
import { addEvent, mergeTotals, noTotals, type Totals } from '../../../shared/usage/totals.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { rangeOf } from '../../support/fixtures/organization-sums.ts';
import { rollupStores } from '../../support/fixtures/rollups.ts';
import { background } from './run.ts';

const REQUESTS = 12;

let run: TestRun;
beforeAll(async () => {
  run = await background.start();
});

// Two of the chats fail.
const chat = async (secret: string): Promise<void> => {
  const client = new OpenAI({ apiKey: secret, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
  await run.control('container', { fault: { kind: 'error', status: 500, times: 2 } });
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    client.chat.completions.create({
      model: i % 3 === 0 ? 'sluice-tiny-reasoning' : run.model,
      messages: [{ role: 'user', content: 'Tell me about rivers.' }],
      max_tokens: i + 1,
    }),
  );
  const failed = (await Promise.allSettled(requests)).filter(({ status }) => status === 'rejected');
  expect(failed).toHaveLength(2);
};

describe('the totals of a day', () => {
  test('soon equal the sum of its events, though the function is killed; a rebuild finds nothing to do', async () => {
    const { secret, key_id } = await run.createKey();
    const from = dayOf(Date.now());
    const rollups = createRollupStore(run.database, run.tables.Usage as string);
    const kill = async (): Promise<void> => {
      for (const pid of (await run.facts()).pids.functions.rollup ?? []) process.kill(pid, 'SIGKILL');
    };
    await chat(secret);
    await kill();
    await chat(secret);

    const totals = async (): Promise<Map<string, Totals>> => {
      const byModel = new Map<string, Totals>();
      for await (const { model, totals: ofDay } of rollups.listDays(key_id, from, dayOf(Date.now())))
        byModel.set(model, mergeTotals(byModel.get(model) ?? noTotals(), ofDay));
      return byModel;
    };
    const counted = async (): Promise<number> => [...(await totals()).values()].reduce((sum, { events }) => sum + events, 0);
    await eventually(async () => (await counted()) === 2 * REQUESTS, 'all requests are in the totals');

    const sums = new Map<string, Totals>();
    const events = await run.eventsOf(key_id);
    for (const event of events) {
      const sum = sums.get(event.model as string) ?? noTotals();
      sums.set(event.model as string, sum);
      addEvent(sum, event);
    }
    expect(await totals()).toEqual(sums);
    expect([...sums.keys()].sort()).toEqual(['sluice-tiny', 'sluice-tiny-reasoning']);
    expect(events.filter(({ outcome }) => outcome === 'upstream_failed')).toHaveLength(4);

    const stores = rollupStores(run.database, run.tables.Usage as string);
    const organization = (events[0] as UsageEvent).org_id;
    const day = { organization, span: 'day', detail: 'user', ...rangeOf(from, dayOf(Date.now())) } as const;
    const countedOf = async (): Promise<number> =>
      (await Array.fromAsync(stores.totals.list(day))).reduce(
        (sum, { keyId, totals: own }) => sum + (keyId === key_id ? own.events : 0),
        0,
      );
    await eventually(async () => (await countedOf()) === 2 * REQUESTS, 'all requests are in the totals of the organization');
    const report = await rebuild(stores, dayOf(Date.now()), [{ id: key_id, shards: 1, organization }], Date.now);
    expect(report).toMatchObject({ drift: { rows: 0 }, behind: { rows: 0 }, organizations: { drift: { rows: 0 }, behind: { rows: 0 } } });
  });
});
