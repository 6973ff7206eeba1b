import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { CompletionsQuery } from '../../../../functions/control/query/usage-query.ts';
import { completionsUsage } from '../../../../functions/control/usage/completions-usage.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import {
  DEPLOYMENTS,
  eventOf,
  Facts,
  KEYS,
  MODELS,
  NOW,
  type PlainEvent,
  PROJECTS,
  ROUTES,
  rowsOf,
  SPANS_READ,
  seconds,
  USERS,
  usageStores,
} from './usage-fixtures.ts';

let database: TestDatabase;
let stores: ReturnType<typeof usageStores>;
beforeAll(async () => {
  database = await startTestDatabase();
  stores = usageStores(database);
});
afterAll(async () => {
  await database.close();
});

const newOwner = (): Promise<Actor> => stores.actor('owner', newId('organization'));

/** The reply as a client parses it. */
// biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
const ask = async (actor: Actor, query: Record<string, unknown>): Promise<any> =>
  JSON.parse(JSON.stringify(await completionsUsage(stores.deps, actor, validate(CompletionsQuery, query))));

const askAll = async (actor: Actor, query: Record<string, unknown>) => {
  // biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
  const buckets: any[] = [];
  for (let page: string | undefined, pages = 0; pages < 100; pages++) {
    const reply = await ask(actor, { ...query, ...(page && { page }) });
    buckets.push(...reply.data);
    if (!reply.has_more) return buckets;
    page = reply.next_page;
  }
  throw new Error('The pages do not end.');
};

// The reply's names for the fields of an event.
const NAMES = {
  api_key_id: ({ event }: PlainEvent) => event.key_id,
  project_id: ({ event }: PlainEvent) => event.project_id ?? null,
  user_id: ({ event }: PlainEvent) => event.user_id ?? null,
  model: ({ event }: PlainEvent) => event.model ?? null,
  route: ({ event }: PlainEvent) => event.route ?? null,
  deployment: ({ deployment }: PlainEvent) => deployment,
} as const;
type Name = keyof typeof NAMES;
const NAMED = Object.keys(NAMES) as Name[];
const FILTERS = {
  api_key_ids: 'api_key_id',
  project_ids: 'project_id',
  user_ids: 'user_id',
  models: 'model',
  routes: 'route',
  deployments: 'deployment',
} as const;

const plainResults = (events: readonly PlainEvent[], groupBy: readonly Name[]) => {
  const groups = new Map<string, PlainEvent[]>();
  for (const event of events) {
    const id = JSON.stringify(groupBy.map((name) => NAMES[name](event)));
    groups.set(id, [...(groups.get(id) ?? []), event]);
  }
  return [...groups.values()].map((group) => ({
    ...Object.fromEntries(groupBy.map((name) => [name, NAMES[name](group[0] as PlainEvent)])),
    num_model_requests: group.length,
    input_tokens: group.reduce((sum, { event }) => sum + event.prompt_tokens, 0),
    input_cached_tokens: group.reduce((sum, { event }) => sum + event.cached_tokens, 0),
    output_tokens: group.reduce((sum, { event }) => sum + event.completion_tokens, 0),
    cost: dollarsOf(group.reduce((sum, { event }) => sum + event.cost_nanos, 0n)),
  }));
};

const Query = fc.record({
  bucket_width: fc.constantFrom('1m', '1h', '1d'),
  groupBy: fc.subarray(NAMED),
  api_key_ids: fc.option(fc.subarray(KEYS, { minLength: 1 }), { nil: undefined }),
  project_ids: fc.option(fc.subarray(PROJECTS, { minLength: 1 }), { nil: undefined }),
  user_ids: fc.option(fc.subarray(USERS, { minLength: 1 }), { nil: undefined }),
  models: fc.option(fc.subarray(MODELS, { minLength: 1 }), { nil: undefined }),
  routes: fc.option(fc.subarray(ROUTES, { minLength: 1 }), { nil: undefined }),
  deployments: fc.option(fc.subarray(DEPLOYMENTS, { minLength: 1 }), { nil: undefined }),
  fromMs: fc.integer({ min: NOW - 2 * DAY_MS, max: NOW - 1 }),
  lengthMs: fc.option(fc.integer({ min: 1_000, max: 2 * DAY_MS })),
});

test('every grouping, filter and range adds up to the sums over the events', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(Facts, { minLength: 1, maxLength: 12 }),
      fc.array(Query, { minLength: 6, maxLength: 6 }),
      async (facts, queries) => {
        const actor = await newOwner();
        const events = facts.map((fact) => eventOf(actor.organization as string, fact));
        await stores.addRows(rowsOf(events, SPANS_READ));
        for (const { groupBy, fromMs, lengthMs, ...filters } of queries) {
          const start_time = seconds(fromMs);
          const end_time = lengthMs === null ? undefined : start_time + seconds(lengthMs);
          const texts = { start_time: String(start_time), ...(end_time && { end_time: String(end_time) }) };
          const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
          const buckets = await askAll(actor, { ...texts, ...given, group_by: groupBy });
          const matching = events.filter((event) =>
            Object.entries(FILTERS).every(([filter, name]) => {
              const values = filters[filter as keyof typeof FILTERS];
              return !values || values.includes(NAMES[name](event) ?? '');
            }),
          );
          const bounds = buckets.map(({ start_time: from, end_time: to }) => [from, to]);
          // Each begins where the one before it ends.
          const begins = [Math.floor(start_time / 60) * 60, ...bounds.map(([, to]) => to)];
          expect(bounds.findIndex(([from], i) => from !== begins[i])).toBe(-1);
          const covered = begins.at(-1);
          for (const { start_time: from, end_time: to, results } of buckets) {
            const inBucket = matching.filter(({ event }) => event.admitted_at >= from * 1_000 && event.admitted_at < to * 1_000);
            // Most buckets have no usage.
            if (inBucket.length + results.length === 0) continue;
            const expected = plainResults(inBucket, groupBy);
            expect(results).toHaveLength(expected.length);
            expect(results).toEqual(expect.arrayContaining(expected.map((result) => expect.objectContaining(result))));
          }
          const widthSeconds = { '1m': 60, '1h': 3_600, '1d': 86_400 }[filters.bucket_width as '1m'];
          const latest = (Math.floor(seconds(NOW) / widthSeconds) + 1) * widthSeconds;
          expect(covered).toBe(end_time === undefined ? latest : Math.min(Math.ceil(end_time / 60) * 60, latest));
        }
      },
    ),
    { numRuns: 6 },
  );
});

test('buckets are aligned to UTC except at the ends of the range, and listed without usage too', async () => {
  const actor = await newOwner();
  const from = Date.UTC(2026, 10, 20, 17, 31);
  const { data, has_more, next_page } = await ask(actor, { start_time: String(seconds(from)) });
  expect([has_more, next_page]).toEqual([false, null]);
  expect(data).toEqual([
    { object: 'bucket', start_time: seconds(from), end_time: seconds(Date.UTC(2026, 10, 21)), results: [] },
    { object: 'bucket', start_time: seconds(Date.UTC(2026, 10, 21)), end_time: seconds(Date.UTC(2026, 10, 22)), results: [] },
  ]);
});

test('a day that the range cuts is extended to whole hours, or the whole day, where rows have expired', async () => {
  const actor = await newOwner();
  const bounds = async (daysAgo: number) => {
    const start_time = seconds(NOW - daysAgo * DAY_MS);
    const { data } = await ask(actor, { start_time: String(start_time), end_time: String(start_time + 3 * 3_600) });
    return data.map((bucket: { start_time: number; end_time: number }) =>
      [bucket.start_time, bucket.end_time].map((at) => new Date(at * 1_000).toISOString().slice(11, 16)),
    );
  };
  expect(await bounds(3)).toEqual([['12:34', '15:35']]);
  expect(await bounds(30)).toEqual([['12:00', '16:00']]);
  expect(await bounds(300)).toEqual([['00:00', '00:00']]);
});

test('a page has as many buckets as limit asks for, and its cursor continues after them', async () => {
  const actor = await newOwner();
  const organization = actor.organization as string;
  const days = [1, 2, 3, 4, 5].map((days) => eventOf(organization, { atMs: NOW - days * DAY_MS, key: 'key_a', tokens: days }));
  await stores.addRows(rowsOf(days, ['day']));
  const query = { start_time: String(seconds(Date.UTC(2026, 10, 16))), end_time: String(seconds(Date.UTC(2026, 10, 21))), limit: '2' };
  const first = await ask(actor, query);
  expect(first.data).toHaveLength(2);
  expect(first.next_page).toMatch(/^page_/);
  const tokens = (await askAll(actor, query)).map(({ results }) => results.map((result: { input_tokens: number }) => result.input_tokens));
  expect(tokens).toEqual([[5], [4], [3], [2], [1]]);
});

test('a bucket with more results than a page holds continues on the next page', async () => {
  const actor = await newOwner();
  const organization = actor.organization as string;
  const events = Array.from({ length: 4_100 }, (_, i) => eventOf(organization, { atMs: NOW, key: `key_${i}` }));
  await stores.addRows(rowsOf(events, ['day'], ['key']));
  const query = { start_time: String(seconds(Date.UTC(2026, 10, 21))), group_by: ['api_key_id'] };
  const first = await ask(actor, query);
  expect(first.data).toHaveLength(1);
  expect(first.data[0].results).toHaveLength(4_000);
  const second = await ask(actor, { ...query, page: first.next_page });
  expect(second.data[0]).toMatchObject({ start_time: first.data[0].start_time, results: expect.any(Array) });
  const keys = [first, second].flatMap(({ data }) => data[0].results.map((result: { api_key_id: string }) => result.api_key_id));
  expect(new Set(keys).size).toBe(4_100);
  expect(second.has_more).toBe(false);
});

test('a cursor that is malformed, or belongs to another query or user, is rejected with 400', async () => {
  const actor = await newOwner();
  const query = { start_time: String(seconds(NOW - 5 * DAY_MS)), limit: '1' };
  const { next_page: page } = await ask(actor, query);
  const rejected = { status: 400, param: 'page' };
  for (const malformed of ['', 'page_', 'nonsense', `${page}x`, `page_${'A'.repeat(500)}`, page.slice(0, -9)])
    await expect(ask(actor, { ...query, page: malformed })).rejects.toMatchObject({
      ...rejected,
      message: expect.stringContaining('next_page'),
    });
  const another = { ...rejected, message: expect.stringContaining('another query') };
  await expect(ask(actor, { ...query, page, models: ['m'] })).rejects.toMatchObject(another);
  await expect(ask(await newOwner(), { ...query, page })).rejects.toMatchObject(another);
  expect((await ask(actor, { ...query, page, limit: '3' })).data).toHaveLength(3);
});

test.each([
  [{}, 'start_time', 'required'],
  [{ start_time: 'yesterday' }, 'start_time', 'Unix time in seconds'],
  [{ start_time: '1795000000', end_time: '1795000000' }, 'end_time', "after 'start_time'"],
  [
    { start_time: String(seconds(NOW - 8 * DAY_MS)), bucket_width: '1m' },
    'start_time',
    "in the last 7 days. Use a later time, or the 'bucket_width' '1h' or '1d'",
  ],
  [
    { start_time: String(seconds(NOW - 92 * DAY_MS)), bucket_width: '1h' },
    'start_time',
    "in the last 90 days. Use a later time, or the 'bucket_width' '1d'",
  ],
  [{ start_time: '1795000000', bucket_width: '1w' }, 'bucket_width', '1m'],
  [{ start_time: '1795000000', limit: '32' }, 'limit', 'at most 31'],
  [{ start_time: '1795000000', group_by: ['colour'] }, 'group_by[0]', 'model'],
  [{ start_time: '1795000000', colour: 'red' }, null, 'colour'],
])('rejects %j with a message that says what is expected', async (query, param, text) => {
  await expect(ask(await newOwner(), query)).rejects.toMatchObject({ status: 400, param, message: expect.stringContaining(text) });
});

test('usage stays in the project that its key had, and a key without one has none', async () => {
  const actor = await newOwner();
  const events = [
    { project: 'prj_1', tokens: 1 },
    { project: 'prj_2', tokens: 10 },
    { project: undefined, tokens: 100 },
  ].map((facts) => eventOf(actor.organization as string, { atMs: NOW, key: 'key_a', ...facts }));
  await stores.addRows(rowsOf(events, ['day']));
  const query = { start_time: String(seconds(Date.UTC(2026, 10, 21))), api_key_ids: ['key_a'] };
  const tokensOf = async (more: Record<string, unknown>) =>
    // biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
    (await ask(actor, { ...query, ...more })).data[0].results.map((result: any) => [result.project_id, result.input_tokens]);
  expect(await tokensOf({ group_by: ['project_id'] })).toEqual([
    ['prj_1', 1],
    ['prj_2', 10],
    [null, 100],
  ]);
  expect(await tokensOf({})).toEqual([[null, 111]]);
  expect(await tokensOf({ project_ids: ['prj_2', 'prj_none'] })).toEqual([[null, 10]]);
});

test('dimensions that Sluice does not have can be grouped by and are null; filtering matches nothing', async () => {
  const actor = await newOwner();
  await stores.addRows(rowsOf([eventOf(actor.organization as string, { atMs: NOW, key: 'key_a' })], ['day']));
  const query = { start_time: String(seconds(Date.UTC(2026, 10, 21))) };
  const resultsOf = async (more: Record<string, unknown>) => (await ask(actor, { ...query, ...more })).data[0].results;
  expect(await resultsOf({ group_by: ['batch', 'service_tier', 'api_source'] })).toMatchObject([
    { num_model_requests: 1, batch: null, service_tier: null, api_source: null },
  ]);
  expect(await resultsOf({ batch: 'false' })).toHaveLength(1);
  expect(await resultsOf({ batch: 'true' })).toEqual([]);
});
