import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { CostsQuery } from '../../../../functions/control/query/usage-query.ts';
import { costs } from '../../../../functions/control/usage/costs.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { type GpuEvent, gpuEventId } from '../../../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { eventOf, Facts, NOW, rowsOf, seconds, usageStores } from './usage-fixtures.ts';

let database: TestDatabase;
let stores: ReturnType<typeof usageStores>;
beforeAll(async () => {
  database = await startTestDatabase();
  stores = usageStores(database);
});
afterAll(async () => {
  await database.close();
});

// biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
const ask = async (actor: Actor, query: Record<string, unknown>): Promise<any> =>
  JSON.parse(JSON.stringify(await costs(stores.deps, actor, validate(CostsQuery, query))));

const addGpuTime = async (organization: string, fields: Partial<GpuEvent>): Promise<void> => {
  const event = {
    deployment_id: newId('deployment'),
    org_id: organization,
    name: 'small',
    generation: 1,
    instance_type: 'ml.g6.xlarge',
    instances: 2,
    phase: 'serving' as const,
    started_at: NOW - (NOW % 1_000) - 900_000,
    ended_at: NOW - (NOW % 1_000),
    seconds: 900,
    cost_nanos: 705_600_000n,
    price_version: 'price_1',
    ...fields,
  };
  const store = createGpuEventStore(database.database, database.tables.Usage as string);
  await transact(database.database, store.toAdd([{ ...event, id: gpuEventId(event) }]));
};

const TODAY = { start_time: String(seconds(NOW)) };

test('costs are whole UTC days with an exact decimal and the nearest number, in the seller’s currency', async () => {
  const actor = await stores.actor('owner', newId('organization'));
  const events = [1, 2].map((i) =>
    eventOf(actor.organization as string, { atMs: NOW - i, key: 'key_a', model: 'small', costNanos: 2n ** 60n }),
  );
  await stores.addRows(rowsOf(events, ['day']));
  const { data, has_more } = await ask(actor, TODAY);
  expect(has_more).toBe(false);
  expect(data).toMatchObject([
    {
      start_time: seconds(Date.UTC(2026, 10, 21)),
      end_time: seconds(Date.UTC(2026, 10, 22)),
      results: [
        { amount: { value: 2_305_843_009.213_694, currency: 'usd' }, cost: '2305843009.213693952', line_item: null, quantity: null },
      ],
    },
  ]);
});

test('GPU time is a line item of its own by instance type, with its quantity', async () => {
  const actor = await stores.actor('owner', newId('organization'));
  const organization = actor.organization as string;
  await stores.addRows(rowsOf([eventOf(organization, { atMs: NOW, key: 'key_a', model: 'small', tokens: 10 })], ['day']));
  await addGpuTime(organization, {});
  await addGpuTime(organization, { instance_type: 'ml.g5.xlarge', cost_nanos: 1n });
  const { data } = await ask(actor, { ...TODAY, group_by: ['line_item'] });
  expect(data[0].results).toMatchObject([
    { line_item: 'GPU time, ml.g5.xlarge', quantity: 1_800, quantity_unit: 'duration_seconds', cost: '0.000000001' },
    { line_item: 'GPU time, ml.g6.xlarge', quantity: 1_800, quantity_unit: 'duration_seconds', cost: '0.7056' },
    { line_item: 'small', quantity: 30, quantity_unit: 'tokens', cost: '0.000000007' },
  ]);
  const only = await ask(actor, { ...TODAY, line_items: ['GPU time, ml.g6.xlarge'] });
  expect(only.data[0].results).toMatchObject([{ cost: '0.7056' }]);
  const ofKey = await ask(actor, { ...TODAY, api_key_ids: ['key_a'] });
  expect(ofKey.data[0].results).toMatchObject([{ cost: '0.000000007' }]);
});

test('the line items of a month add up to its cost, by whatever else they are grouped', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(Facts, { maxLength: 15 }),
      fc.subarray(['line_item', 'project_id', 'api_key_id', 'user_id', 'model', 'deployment', 'organization']),
      async (facts, group_by) => {
        const actor = await stores.actor('owner', newId('organization'));
        const organization = actor.organization as string;
        const events = facts.map((fact) => eventOf(organization, fact));
        await stores.addRows(rowsOf(events, ['day']));
        await addGpuTime(organization, {});
        const { data } = await ask(actor, { start_time: String(seconds(NOW - 5 * DAY_MS)), group_by });
        const nanos = data
          .flatMap(({ results }: { results: { cost: string }[] }) => results)
          .map(({ cost }: { cost: string }) => {
            const [whole, fraction = ''] = cost.split('.');
            return BigInt(whole + fraction.padEnd(9, '0'));
          })
          .reduce((sum: bigint, cost: bigint) => sum + cost, 0n);
        expect(dollarsOf(nanos)).toBe(dollarsOf(events.reduce((sum, { event }) => sum + event.cost_nanos, 705_600_000n)));
      },
    ),
    { numRuns: 8 },
  );
});
