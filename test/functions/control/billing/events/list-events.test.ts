import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { EventsQuery, listEvents } from '../../../../../functions/control/billing/events/list-events.ts';
import { transact } from '../../../../../shared/database/transaction.ts';
import { validate } from '../../../../../shared/http/validate.ts';
import { requestTimeMs } from '../../../../../shared/ids/request-id.ts';
import { DAY_MS } from '../../../../../shared/time/units.ts';
import { type GpuEvent, gpuEventId } from '../../../../../shared/usage/gpu-event.ts';
import { createGpuEventStore, type GpuEventStore } from '../../../../../shared/usage/gpu-event-store.ts';
import { createUsageStore, type UsageStore } from '../../../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { newId } from '../../../../support/fixtures/new-id.ts';
import { eventOf, MODELS, NOW, rowsOf, seconds, usageStores } from '../../usage/usage-fixtures.ts';

let database: TestDatabase;
let stores: ReturnType<typeof usageStores>;
let usage: UsageStore;
let gpuEvents: GpuEventStore;
beforeAll(async () => {
  database = await startTestDatabase();
  stores = usageStores(database);
  usage = createUsageStore(database.database, database.tables.Usage as string);
  gpuEvents = createGpuEventStore(database.database, database.tables.Usage as string);
});
afterAll(async () => {
  await database.close();
});

// The second key has two shards, as their limiters say.
const newKeys = async (organization: string): Promise<[plain: string, sharded: string]> => {
  const [plain, sharded] = [newId('key'), newId('key')];
  for (const id of [plain, sharded, `${sharded}#1`])
    await database.database.put({ TableName: database.tables.Keys as string, Item: { id, org: organization, last_used: NOW - 60_000 } });
  return [plain, sharded];
};

let queries = 0;
const countedUsage: Pick<UsageStore, 'listByBucket'> = {
  listByBucket: (...args) => {
    queries++;
    return usage.listByBucket(...args);
  },
};

const ask = async (actor: Actor, query: Record<string, unknown>) => {
  const deps = { ...stores.stores, ...stores.deps, usage: countedUsage, gpuEvents };
  return JSON.parse(JSON.stringify(await listEvents(deps, actor, validate(EventsQuery, query))));
};

const askAll = async (actor: Actor, query: Record<string, unknown>) => {
  // biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
  const events: any[] = [];
  for (let after: string | undefined, pages = 0; pages < 200; pages++) {
    const { data, has_more, next } = await ask(actor, { ...query, ...(after && { after }) });
    events.push(...data);
    if (!has_more) return events;
    after = next;
  }
  throw new Error('The pages do not end.');
};

const gpuEventAt = (organization: string, deployment_id: string, atMs: number): GpuEvent => {
  const started_at = Math.floor(atMs / 1_000) * 1_000;
  const event = {
    deployment_id,
    org_id: organization,
    name: 'small',
    generation: 1,
    instance_type: 'ml.g6.xlarge',
    instances: 1,
    phase: 'serving' as const,
    started_at,
    ended_at: started_at + 60_000,
    seconds: 60,
    cost_nanos: 5n,
    price_version: 'price_1',
  };
  return { ...event, id: gpuEventId(event) };
};

const Facts = fc.record({
  atMs: fc.integer({ min: NOW - 2 * DAY_MS, max: NOW - 1 }),
  isSharded: fc.boolean(),
  model: fc.constantFrom(...MODELS, undefined),
});

test('lists every event of the range once, in the order of time, for any filters and page size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(Facts, { minLength: 1, maxLength: 25 }),
      fc.uniqueArray(fc.integer({ min: NOW - 2 * DAY_MS, max: NOW - 1 }), { maxLength: 4, selector: seconds }),
      fc.array(
        fc.record({
          fromMs: fc.integer({ min: NOW - 2 * DAY_MS, max: NOW - 1 }),
          limit: fc.integer({ min: 1, max: 8 }),
          models: fc.constantFrom<string[] | undefined>(undefined, ['small']),
          isSharded: fc.constantFrom(undefined, true, false),
          kinds: fc.constantFrom<string[] | undefined>(undefined, ['usage_event'], ['gpu_time_event']),
        }),
        { minLength: 4, maxLength: 4 },
      ),
      async (facts, gpuTimes, asked) => {
        const actor = await stores.actor('owner', newId('organization'));
        const organization = actor.organization as string;
        const [plain, sharded] = await newKeys(organization);
        const events = facts.map(({ isSharded, ...fact }) => eventOf(organization, { ...fact, key: isSharded ? sharded : plain }));
        for (const { event } of events) await usage.putIfAbsent(event, event.key_id === sharded ? 2 : 1);
        // The totals of the last ten minutes come later.
        await stores.addRows(
          rowsOf(
            events.filter(({ event }) => event.admitted_at < NOW - 600_000),
            ['ten_minutes'],
            ['key'],
          ),
        );
        const deployment = newId('deployment');
        const gpu = gpuTimes.map((atMs) => gpuEventAt(organization, deployment, atMs));
        for (const event of gpu) await transact(database.database, gpuEvents.toAdd([event]));
        for (const { fromMs, limit, models, isSharded, kinds } of asked) {
          const start = seconds(fromMs);
          const keys = isSharded === undefined ? undefined : [isSharded ? sharded : plain];
          const listed = await askAll(actor, {
            start_time: String(start),
            end_time: String(seconds(NOW)),
            limit: String(limit),
            ...(models && { models }),
            ...(kinds && { kinds }),
            ...(keys && { api_key_ids: keys }),
          });
          const expected = [
            ...events
              .filter(({ event }) => (kinds?.includes('usage_event') ?? true) && (keys?.includes(event.key_id) ?? true))
              .filter(
                ({ event }) => requestTimeMs(event.request_id) >= start * 1_000 && requestTimeMs(event.request_id) < seconds(NOW) * 1_000,
              )
              .filter(({ event }) => models?.includes(event.model ?? '') ?? true)
              .map(({ event }) => event.request_id),
            ...gpu
              .filter(({ started_at }) => (kinds?.includes('gpu_time_event') ?? true) && !keys && started_at >= start * 1_000)
              .map(({ id }) => id),
          ];
          const inTime = (a: string, b: string): number => (a.slice(4) < b.slice(4) ? -1 : 1);
          expect(listed.map(({ id }) => id)).toEqual(expected.sort(inTime));
        }
      },
    ),
    { numRuns: 8 },
  );
});

test('reads only keys and ten minutes with usage: a month with one event costs one query of events', async () => {
  const actor = await stores.actor('owner', newId('organization'));
  const organization = actor.organization as string;
  const [plain] = await newKeys(organization);
  const one = eventOf(organization, { atMs: NOW - 15 * DAY_MS, key: plain, model: 'small' });
  await usage.putIfAbsent(one.event, 1);
  await stores.addRows(rowsOf([one], ['ten_minutes'], ['key']));
  queries = 0;
  const query = { start_time: String(seconds(NOW - 31 * DAY_MS)), end_time: String(seconds(NOW - 3_600_000)) };
  expect(await ask(actor, query)).toMatchObject({ data: [{ id: one.event.request_id }], has_more: false, next: null });
  expect(queries).toBe(1);
});

test.each([
  ['its first limiter', 1],
  ['all of its limiters', 2],
])('finds the events of all shards of a key that lost %s', async (_, lost) => {
  const actor = await stores.actor('owner', newId('organization'));
  const organization = actor.organization as string;
  const [, sharded] = await newKeys(organization);
  for (const id of [sharded, `${sharded}#1`].slice(0, lost))
    await database.database.delete({ TableName: database.tables.Keys as string, Key: { id } });
  const events = Array.from({ length: 12 }, (_, i) => eventOf(organization, { atMs: NOW - DAY_MS + i, key: sharded }));
  for (const { event } of events) await usage.putIfAbsent(event, 2);
  await stores.addRows(rowsOf(events, ['ten_minutes'], ['key']));
  const listed = await askAll(actor, { start_time: String(seconds(NOW - 2 * DAY_MS)), end_time: String(seconds(NOW)) });
  expect(listed.map(({ id }) => id)).toEqual(events.map(({ event }) => event.request_id));
});

test('finds events by the day’s totals once the shorter ones expired, and bounds a page’s queries', async () => {
  const actor = await stores.actor('owner', newId('organization'));
  const organization = actor.organization as string;
  const [plain, sharded] = await newKeys(organization);
  const days = [200, 197, 195, 193].flatMap((daysAgo) =>
    [plain, sharded].map((key) => eventOf(organization, { atMs: NOW - daysAgo * DAY_MS, key })),
  );
  for (const { event } of days) await usage.putIfAbsent(event, event.key_id === sharded ? 2 : 1);
  await stores.addRows(rowsOf(days, ['day'], ['key']));
  const query = { start_time: String(seconds(NOW - 201 * DAY_MS)), end_time: String(seconds(NOW - 190 * DAY_MS)) };
  queries = 0;
  const first = await ask(actor, query);
  expect(first.has_more).toBe(true);
  expect(queries).toBeLessThanOrEqual(1_000);
  const ids = (await askAll(actor, query)).map(({ id }) => id);
  expect(new Set(ids)).toEqual(new Set(days.map(({ event }) => event.request_id)));
});

test('shows an event with public names, its cost as text, and its later rating', async () => {
  const actor = await stores.actor('owner', newId('organization'));
  const organization = actor.organization as string;
  const [plain] = await newKeys(organization);
  const { event } = eventOf(organization, { atMs: NOW - 60_000, key: plain, model: 'small', user: 'ann', costNanos: 2n ** 60n + 1n });
  const again = {
    ...event,
    request_id: `${event.request_id}#2`,
    prompt_tokens: 0,
    cached_tokens: 0,
    completion_tokens: 0,
    cost_nanos: -7n,
    price_version: '2',
    rerate: { id: 'rr_1', from: '1' },
  };
  for (const one of [event, again]) await usage.putIfAbsent({ ...one, metadata: { team: 'blue' } }, 1);
  const [original, rated] = await askAll(actor, { start_time: String(seconds(NOW - 600_000)), end_time: String(seconds(NOW)) });
  expect(original).toMatchObject({
    object: 'usage_event',
    id: event.request_id,
    api_key_id: plain,
    admitted_at: seconds(NOW - 60_000),
    cost: '1152921504.606846977',
    rerate: null,
    metadata: { team: 'blue' },
    user_id: 'ann',
  });
  expect(rated).toMatchObject({ id: again.request_id, cost: '-0.000000007', price_version: '2', rerate: 'rr_1', rated_from: '1' });
});

test('another organization’s events are never listed: an owner gets 404, an admin must name one', async () => {
  const owner = await stores.actor('owner', newId('organization'));
  const admin = await stores.actor('admin', null);
  const range = { start_time: String(seconds(NOW - DAY_MS)), end_time: String(seconds(NOW)) };
  await expect(ask(owner, { ...range, organization: newId('organization') })).rejects.toMatchObject({ status: 404 });
  await expect(ask(admin, { ...range, organization: newId('organization') })).rejects.toMatchObject({ status: 404 });
  await expect(ask(admin, range)).rejects.toMatchObject({ status: 400, param: 'organization' });
  const other = await stores.actor('owner', newId('organization'));
  const [key] = await newKeys(other.organization as string);
  await usage.putIfAbsent(eventOf(other.organization as string, { atMs: NOW - 60_000, key }).event, 1);
  expect(await ask(owner, { ...range, api_key_ids: [key] })).toMatchObject({ data: [], has_more: false });
});

test.each([
  [{ start_time: '1794000000' }, 'end_time', 'required'],
  [{ start_time: '1794000000', end_time: '1797000000' }, 'end_time', 'POST /v1/billing/exports'],
  [{ start_time: '1794000000', end_time: '1794000000' }, 'end_time', "after 'start_time'"],
  [{ start_time: '1794000000', end_time: '1794000001', after: 'page_x' }, 'after', '`next` of an earlier page'],
  [{ start_time: '1794000000', end_time: '1794000001', kinds: ['bill'] }, 'kinds[0]', 'gpu_time_event'],
])('rejects %j with a message that says what is expected', async (query, param, text) => {
  const actor = await stores.actor('owner', newId('organization'));
  await expect(ask(actor, query)).rejects.toMatchObject({ status: 400, param, message: expect.stringContaining(text) });
});
