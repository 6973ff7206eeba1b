import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../../functions/control/api-keys/create-api-key.ts';
import { MAX_ROWS, type MetricsDependencies, metrics } from '../../../../../functions/control/observability/metrics/metrics.ts';
import { MetricsQuery } from '../../../../../functions/control/observability/metrics/metrics-query.ts';
import { Metrics } from '../../../../../functions/control/observability/metrics/metrics-resource.ts';
import { createOrganization } from '../../../../../functions/control/organizations/create-organization.ts';
import { validate } from '../../../../../shared/http/validate.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../../shared/time/units.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';
import { SPANS } from '../../../../../shared/usage/organization-totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { newId } from '../../../../support/fixtures/new-id.ts';
import { type EventFacts, eventOf, NOW, type PlainEvent, rowsOf, seconds, usageStores } from '../../usage/usage-fixtures.ts';

let database: TestDatabase;
let stores: ReturnType<typeof usageStores>;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  stores = usageStores(database);
  admin = await stores.actor('admin', null);
});
afterAll(async () => {
  await database.close();
});

interface Refused {
  organization: string | null;
  startMs: number;
  keyId: string | null;
  code: string;
  count: number;
}
const refusalsOf = (refused: readonly Refused[]): NonNullable<MetricsDependencies['refusals']> => ({
  list: async function* ({ organization, fromMs, toMs }) {
    yield* refused.filter((each) => each.organization === organization && each.startMs >= fromMs && each.startMs < toMs);
  },
});

/** The reply as a client parses it. */
// biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
const ask = async (actor: Actor, query: Record<string, unknown> = {}, refused: readonly Refused[] = []): Promise<any> => {
  const reply = await metrics({ ...stores.deps, refusals: refusalsOf(refused) }, actor, validate(MetricsQuery, query));
  return Metrics.parse(JSON.parse(JSON.stringify(reply)));
};

const newOwner = (): Promise<Actor> => stores.actor('owner', newId('organization'));
const plain = (organization: string, facts: EventFacts, changes: Partial<UsageEvent> = {}): PlainEvent => {
  const { event, deployment } = eventOf(organization, facts);
  return { event: { ...event, ...changes }, deployment };
};
const addEvents = (events: readonly PlainEvent[]): Promise<void> => stores.addRows(rowsOf(events, SPANS));

const exactly = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] as number;

describe('metrics', () => {
  test('compare the sides of a split, without other requests', async () => {
    const owner = await newOwner();
    const sides = ['new', 'base', 'base', undefined] as const;
    await addEvents(
      sides.map((side, i) =>
        plain(
          owner.organization as string,
          { atMs: NOW - i * MINUTE_MS, key: 'key_1', model: 'm', tokens: 9, costNanos: 3n },
          { alias: 'gpt', ...(side && { side }) },
        ),
      ),
    );
    const { series } = await ask(owner, { group_by: ['alias', 'side'] });
    const found = series.map(({ alias, side, totals }: Record<string, { requests: number }>) => [alias, side, totals?.requests]);
    expect(found.sort()).toEqual(
      [
        ['gpt', 'base', 2],
        ['gpt', 'new', 1],
        [null, null, 1],
      ].sort(),
    );
    expect((await ask(owner)).series[0].totals.requests).toBe(4);
  });

  test('say by model how many requests came to it as a fallback', async () => {
    const owner = await newOwner();
    const models = [['own'], ['warm', 1], ['warm', 2], ['warm']] as const;
    await addEvents(
      models.map(([model, fallback], i) =>
        plain(
          owner.organization as string,
          { atMs: NOW - i * MINUTE_MS, key: 'key_1', model, tokens: 9, costNanos: 3n },
          fallback === undefined ? {} : { fallback },
        ),
      ),
    );
    const { series } = await ask(owner, { group_by: ['model'] });
    const found = series.map(({ model, totals }: Record<string, { requests: number; fallbacks: number }>) => [
      model,
      totals?.requests,
      totals?.fallbacks,
    ]);
    expect(found.sort()).toEqual([
      ['own', 1, 0],
      ['warm', 3, 2],
    ]);
  });

  test('sum the requests of the last hour by default, with percentiles of the merged minutes', async () => {
    const owner = await newOwner();
    const organization = owner.organization as string;
    const durations = Array.from({ length: 150 }, (_, i) => 200 + ((i * 7_919) % 9_000));
    const events = durations.map((duration_ms, i) =>
      plain(
        organization,
        { atMs: NOW - (i % 50) * MINUTE_MS, key: `key_${i % 3}`, model: i % 2 ? 'small' : 'large', tokens: 9, costNanos: 3n },
        {
          duration_ms,
          time_to_first_token_ms: Math.floor(duration_ms / 10),
          ...(i % 10 === 0 && { outcome: 'upstream_failed' as const, error_code: 'upstream_unavailable' }),
          ...(i % 10 === 1 && { outcome: 'orphaned' as const }),
        },
      ),
    );
    await addEvents([...events, plain(organization, { atMs: NOW - 2 * HOUR_MS, key: 'key_1' })]);
    const reply = await ask(owner);
    expect(reply).toMatchObject({ object: 'metrics', resolution_seconds: 60 });
    expect(reply.end_time - reply.start_time).toBe(61 * 60);
    const [{ points, totals, ...names }, ...others] = reply.series;
    expect(others).toEqual([]);
    expect(names).toEqual({
      ...{
        organization: null,
        project_id: null,
        api_key_id: null,
        user_id: null,
        model: null,
        route: null,
        deployment: null,
        alias: null,
        side: null,
      },
    });
    const total = durations.reduce((sum, ms) => sum + ms, 0);
    const generationMs = durations.reduce((sum, ms) => sum + ms - Math.floor(ms / 10), 0);
    expect(totals).toMatchObject({
      requests: 150,
      errors: { upstream_unavailable: 15 },
      error_rate: 0.2,
      outcomes: { upstream_failed: 15, orphaned: 15, completed: 120 },
      input_tokens: 1_350,
      cached_tokens: 450,
      output_tokens: 2_700,
      cache_share: 0.333333,
      cost: '0.00000045',
      output_tokens_per_second: Number(((150 * 17 * 1_000) / generationMs).toFixed(2)),
      concurrency: Number((total / (NOW - reply.start_time * 1_000)).toFixed(4)),
      refusals: {},
    });
    for (const [name, share] of [
      ['p50', 0.5],
      ['p90', 0.9],
      ['p99', 0.99],
    ] as const)
      expect(Math.abs(totals.duration_ms[name] / exactly(durations, share) - 1)).toBeLessThan(0.011);
    expect(points).toHaveLength(50);
    expect(points.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)).toBe(150);
    // The current minute has only lasted for 56 seconds.
    const ofNow = durations.filter((_, i) => i % 50 === 0).reduce((sum, ms) => sum + ms, 0);
    expect(points.at(-1)).toMatchObject({ start_time: seconds(NOW) - 56, requests: 3, concurrency: Number((ofNow / 56_000).toFixed(4)) });
  });

  test.each([
    ['an hour', HOUR_MS, 60],
    ['six hours', 6 * HOUR_MS, 60],
    ['a day', DAY_MS, 600],
    ['a week', 7 * DAY_MS, 3_600],
    ['a month', 30 * DAY_MS, 86_400],
    ['a year', 365 * DAY_MS, 86_400],
    ['an hour of last week, whose minutes have expired', HOUR_MS, 600, 8 * DAY_MS],
    ['an hour of last year, of which only the day is left', HOUR_MS, 86_400, 300 * DAY_MS],
  ])('have the finest resolution with at most 400 points for %s', async (_, lengthMs, resolution, agoMs = 0) => {
    const owner = await newOwner();
    const [start, end] = [seconds(NOW - agoMs - lengthMs), seconds(NOW - agoMs)];
    const reply = await ask(owner, { start_time: String(start), end_time: String(end) });
    expect(reply.resolution_seconds).toBe(resolution);
    expect((reply.end_time - reply.start_time) / resolution).toBeLessThanOrEqual(400);
    expect(reply.start_time).toBe(Math.floor(start / resolution) * resolution);
    expect(reply.end_time).toBe(Math.ceil(end / resolution) * resolution);
  });

  test.each([
    ['a window that ends before it begins', { start_time: '2000', end_time: '1000' }],
    ['a window in the future', { start_time: String(seconds(NOW) + 10) }],
    ['more than 400 points', { start_time: String(seconds(NOW - DAY_MS)), resolution: '1m' }],
    ['more than 400 days', { start_time: String(seconds(NOW - 401 * DAY_MS)) }],
    [
      'minutes that have expired',
      { start_time: String(seconds(NOW - 8 * DAY_MS)), end_time: String(seconds(NOW - 8 * DAY_MS) + 60), resolution: '1m' },
    ],
  ])('reject %s', async (_, query) => {
    await expect(ask(await newOwner(), query)).rejects.toMatchObject({ status: 400, param: 'start_time' });
  });

  test('are grouped and filtered by any names, and the series beyond the 20 largest are one', async () => {
    const owner = await newOwner();
    const organization = owner.organization as string;
    const of = (i: number) =>
      Array.from({ length: 40 - i }, () => plain(organization, { atMs: NOW, key: `key_${i}`, user: `user ${i}`, model: 'small' }));
    await addEvents(Array.from({ length: 25 }, (_, i) => of(i)).flat());
    const { series } = await ask(owner, { group_by: ['api_key_id', 'model'], models: ['small'] });
    expect(series).toHaveLength(21);
    expect(series[0]).toMatchObject({
      api_key_id: 'key_0',
      model: 'small',
      user_id: null,
      totals: { requests: 40 },
      points: [{ requests: 40 }],
    });
    expect(series[20]).toMatchObject({
      api_key_id: '(other)',
      model: '(other)',
      totals: { requests: 20 + 19 + 18 + 17 + 16, refusals: null },
    });
    const filtered = await ask(owner, { group_by: ['user_id'], api_key_ids: ['key_3', 'key_24'] });
    expect(filtered.series.map((each: { user_id: string; totals: { requests: number } }) => [each.user_id, each.totals.requests])).toEqual([
      ['user 3', 37],
      ['user 24', 16],
    ]);
    expect((await ask(owner, { models: ['unknown'] })).series).toMatchObject([{ points: [], totals: { requests: 0, duration_ms: null } }]);
  });

  test('compare projects, each with the requests that were admitted while their key was in it', async () => {
    const [owner, other] = [await newOwner(), await newOwner()];
    const of = (actor: Actor, key: string, projects: readonly (string | undefined)[]) =>
      projects.map((project) => plain(actor.organization as string, { atMs: NOW, key, model: 'm', tokens: 9, costNanos: 3n, project }));
    await addEvents([
      ...of(owner, 'key_1', ['prj_1', 'prj_2', 'prj_2', undefined]),
      ...of(owner, 'key_2', ['prj_2']),
      ...of(other, 'key_3', ['prj_3']),
    ]);
    const requestsOf = async (query: Record<string, unknown>) =>
      (await ask(owner, query)).series.map(({ project_id, totals }: { project_id: string | null; totals: { requests: number } }) => [
        project_id,
        totals.requests,
      ]);
    expect(await requestsOf({ group_by: ['project_id'] })).toEqual([
      ['prj_2', 3],
      ['prj_1', 1],
      [null, 1],
    ]);
    expect(await requestsOf({ project_ids: ['prj_2'] })).toEqual([[null, 3]]);
    expect(await requestsOf({ project_ids: ['prj_2'], api_key_ids: ['key_1'], group_by: ['project_id'] })).toEqual([['prj_2', 2]]);
    expect(await requestsOf({ project_ids: ['prj_3'] })).toEqual([[null, 0]]);
    expect((await ask(owner, { project_ids: ['prj_2'] })).series[0].totals.refusals).toBeNull();
  });

  test('have the refused requests by code, of keys as well, and none where they are unknown', async () => {
    const organization = (await createOrganization(stores.stores, admin.origin, { name: 'Acme' })).id;
    const owner = await stores.actor('owner', organization);
    const at = { organization, startMs: NOW - (NOW % MINUTE_MS) - 3 * MINUTE_MS };
    const refused = [
      { ...at, keyId: 'key_a', code: 'rate_limit_exceeded', count: 4 },
      { ...at, keyId: 'key_b', code: 'rate_limit_exceeded', count: 3 },
      { ...at, keyId: 'key_b', code: 'model_not_found', count: 2 },
      { ...at, organization: null, keyId: null, code: 'invalid_api_key', count: 50 },
      { ...at, organization: 'org_other', keyId: 'key_c', code: 'rate_limit_exceeded', count: 70 },
    ];
    const [one] = (await ask(owner, {}, refused)).series;
    expect(one.totals).toMatchObject({ requests: 0, error_rate: null, refusals: { rate_limit_exceeded: 7, model_not_found: 2 } });
    expect(one.points).toMatchObject([{ start_time: at.startMs / 1_000, refusals: { rate_limit_exceeded: 7, model_not_found: 2 } }]);
    const byKey = (await ask(owner, { group_by: ['api_key_id'], api_key_ids: ['key_a'] }, refused)).series;
    expect(byKey).toMatchObject([{ api_key_id: 'key_a', totals: { refusals: { rate_limit_exceeded: 4 } } }]);
    expect((await ask(owner, { models: ['small'] }, refused)).series[0].totals.refusals).toBeNull();
    const all = (await ask(admin, { group_by: ['organization'] }, refused)).series;
    const ofPlatform = all.find((each: { organization: string | null }) => each.organization === null);
    expect(ofPlatform.totals.refusals).toEqual({ invalid_api_key: 50 });
  });

  test('have no refused requests of days whose counts were deleted', async () => {
    const owner = await newOwner();
    const organization = owner.organization as string;
    const day = NOW - (NOW % DAY_MS);
    const [deleted, kept] = [day - 91 * DAY_MS, day - 90 * DAY_MS];
    await addEvents([plain(organization, { atMs: deleted, key: 'key_a' }), plain(organization, { atMs: kept, key: 'key_a' })]);
    const query = { start_time: String(deleted / 1_000), resolution: '1d' };
    const refused = [{ organization, startMs: kept, keyId: 'key_a', code: 'model_not_found', count: 2 }];
    const [both] = (await ask(owner, query, refused)).series;
    expect(both.points).toMatchObject([
      { start_time: deleted / 1_000, requests: 1, refusals: null },
      { start_time: kept / 1_000, requests: 1, refusals: { model_not_found: 2 } },
    ]);
    expect(both.totals).toMatchObject({ requests: 2, refusals: { model_not_found: 2 } });
    const [old] = (await ask(owner, { ...query, end_time: String(kept / 1_000) })).series;
    expect(old.totals).toMatchObject({ requests: 1, refusals: null });
  });

  test('show members their own keys, owners their organization, and admins one organization or all', async () => {
    const [mine, other] = await Promise.all(['Mine', 'Other'].map((name) => createOrganization(stores.stores, admin.origin, { name })));
    const organization = mine?.id as string;
    const [owner, member, second] = await Promise.all([
      stores.actor('owner', organization),
      stores.actor('member', organization),
      stores.actor('member', organization),
    ]);
    const { id: own } = await createApiKey(stores.stores, member, NewApiKey.parse({ name: 'own' }));
    await addEvents([
      plain(organization, { atMs: NOW, key: own }),
      plain(organization, { atMs: NOW, key: 'key_b' }),
      plain(other?.id as string, { atMs: NOW, key: 'key_c' }),
    ]);
    const refused = ['key_b', own].map((keyId) => ({ organization, startMs: NOW, keyId, code: 'rate_limit_exceeded', count: 1 }));
    const seenBy = async (actor: Actor, query = {}) => {
      const [{ totals }] = (await ask(actor, query, refused)).series;
      return [totals.requests, totals.refusals?.rate_limit_exceeded ?? 0];
    };
    expect(await seenBy(member)).toEqual([1, 1]);
    expect(await seenBy(member, { api_key_ids: ['key_b'] })).toEqual([0, 0]);
    expect(await seenBy(second)).toEqual([0, 0]);
    expect(await seenBy(owner)).toEqual([2, 2]);
    expect(await seenBy(admin, { organization })).toEqual([2, 2]);
    const all = (await ask(admin, { group_by: ['organization'] })).series;
    for (const [id, requests] of [
      [organization, 2],
      [other?.id, 1],
    ])
      expect(all.find((each: { organization: string }) => each.organization === id)?.totals.requests).toBe(requests);
    for (const [actor, named] of [
      [owner, other?.id],
      [member, other?.id],
      [admin, newId('organization')],
    ] as const)
      await expect(ask(actor, { organization: named })).rejects.toMatchObject({ status: 404 });
  });

  const none: MetricsDependencies['refusals'] = { list: async function* () {} };

  test('reject a query that would read too many rows', async () => {
    const owner = await newOwner();
    const [row] = rowsOf([plain(owner.organization as string, { atMs: NOW, key: 'key_a' })], ['minute'], ['model']);
    const organizationTotals: MetricsDependencies['organizationTotals'] = {
      list: async function* () {
        for (let i = 0; i <= MAX_ROWS; i++) yield row as NonNullable<typeof row>;
      },
    };
    const reading = metrics({ ...stores.deps, organizationTotals, refusals: none }, owner, validate(MetricsQuery, {}));
    await expect(reading).rejects.toMatchObject({ status: 400, message: expect.stringContaining('20000 rows') });
  });

  test('reject a query whose reply would be larger than a function can send', async () => {
    const owner = await newOwner();
    const errors = new Map(Array.from({ length: 50 }, (_, i) => [`a_rather_long_error_code_${i}`, 1]));
    const [row] = rowsOf([plain(owner.organization as string, { atMs: NOW, key: 'key_a' })], ['minute'], ['key']);
    const organizationTotals: MetricsDependencies['organizationTotals'] = {
      list: async function* ({ fromMs, toMs }) {
        for (let startMs = fromMs; startMs < toMs; startMs += MINUTE_MS)
          for (let key = 0; key < 6; key++) {
            const { totals, ...names } = row as NonNullable<typeof row>;
            yield { ...names, startMs, keyId: `key_${key}`, totals: { ...totals, errors } };
          }
      },
    };
    const query = { start_time: String(seconds(NOW) - 390 * 60), group_by: ['api_key_id'] };
    const reading = metrics({ ...stores.deps, organizationTotals, refusals: none }, owner, validate(MetricsQuery, query));
    await expect(reading).rejects.toMatchObject({ status: 400, message: expect.stringContaining("a coarser 'resolution'") });
  });
});
