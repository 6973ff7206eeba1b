import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { EconomicsQuery } from '../../../../functions/control/economics/economics-query.ts';
import { EconomicsList, type EconomicsRow } from '../../../../functions/control/economics/economics-resource.ts';
import { exportEconomics, listEconomics } from '../../../../functions/control/economics/list-economics.ts';
import type { EconomicsDependencies } from '../../../../functions/control/economics/read-economics.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { recompute } from '../../../../functions/rollup/rollup.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { awsNameOf } from '../../../../shared/deployments/names.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import { createDeploymentDayStore } from '../../../../shared/usage/deployment-day-store.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { BUCKET_MS } from '../../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { deploymentsOf, storeDeployment } from '../../../support/fixtures/deployments.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { rollupStores } from '../../../support/fixtures/rollups.ts';
import { usageStores } from '../usage/usage-fixtures.ts';
import { gpuEvent, SMALL } from './economics-fixtures.ts';
import { type Call, CHARGES, COSTS, callsOf, eventsOf, MONTH, MONTH_END, nanosAt, type Stretch, TIMELINES } from './simulated-month.ts';

const NOW = MONTH_END + 4 * DAY_MS;
const EVENTS_AT_ONCE = 40;

let database: TestDatabase;
let deps: EconomicsDependencies;
let newOrganization: () => Promise<string>;
beforeAll(async () => {
  database = await startTestDatabase();
  const { deps: stores, stores: accounts, actor } = usageStores(database);
  const { origin } = await actor('admin', null);
  newOrganization = async () => (await createOrganization(accounts, origin, { name: 'Acme' })).id;
  const table = database.tables.Usage as string;
  deps = {
    ...stores,
    gpuEvents: createGpuEventStore(database.database, table),
    deploymentDays: createDeploymentDayStore(database.database, table),
    deployments: deploymentsOf(database),
    catalogue: { costs: async () => new Map([[SMALL, COSTS]]) },
  } as EconomicsDependencies;
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const actorOf = (role: Actor['role'], organization: string | null, nowMs = NOW): Actor =>
  ({ userId: 'user_1', role, organization, origin: { nowMs } }) as Actor;
const admin = actorOf('admin', null);

const NOVEMBER = { from: '2026-11-01', to: '2026-12-01' };

// biome-ignore lint/suspicious/noExplicitAny: the reply is compared as JSON.
const ask = async (actor: Actor, query: Record<string, unknown>): Promise<any> => {
  const reply = JSON.parse(JSON.stringify(await listEconomics(deps, actor, validate(EconomicsQuery, { ...NOVEMBER, ...query }))));
  return EconomicsList.parse(reply);
};

const addGpuTime = async (events: readonly GpuEvent[]): Promise<void> => {
  const store = createGpuEventStore(database.database, database.tables.Usage as string);
  for (let i = 0; i < events.length; i += EVENTS_AT_ONCE)
    await transact(database.database, store.toAdd(events.slice(i, i + EVENTS_AT_ONCE)));
};

const addUsage = async (events: readonly UsageEvent[]): Promise<void> => {
  throwFailures(await inParallel(events, 16, async (event) => void (await database.usage.putIfAbsent(event))));
  const buckets = new Map(
    events.map(({ key_id, admitted_at }) => [
      `${key_id} ${Math.floor(admitted_at / BUCKET_MS)}`,
      { shard: key_id, startMs: Math.floor(admitted_at / BUCKET_MS) * BUCKET_MS },
    ]),
  );
  await recompute(rollupStores(database.database, database.tables.Usage as string), [...buckets.values()]);
};

const usageEvent = (fields: Pick<UsageEvent, 'key_id' | 'org_id' | 'admitted_at'> & Partial<UsageEvent>): UsageEvent => ({
  request_id: newRequestId(fields.admitted_at),
  model: 'chat',
  route: '/v1/chat/completions',
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  time_to_first_token_ms: null,
  duration_ms: 1_000,
  cost_nanos: 0n,
  price_version: '1',
  ...fields,
});

describe('a simulated month of three deployments', () => {
  let owner: string;
  let other: string;
  const ids = { sleeper: newId('deployment'), steady: newId('deployment'), failure: newId('deployment') };
  const ownerOf = (name: keyof typeof ids): string => (name === 'failure' ? other : owner);
  const calls = callsOf(7, 70);

  beforeAll(async () => {
    [owner, other] = [await newOrganization(), await newOrganization()];
    for (const [name, stretches] of Object.entries(TIMELINES)) {
      const of = name as keyof typeof ids;
      await storeDeployment(database, { id: ids[of], organization: ownerOf(of), name });
      await addGpuTime(eventsOf({ deployment_id: ids[of], org_id: ownerOf(of), name }, stretches));
    }
    const keys = { owner: newId('key'), other: newId('key') };
    await addUsage(
      calls.map(({ deployment, caller, atMs, durationMs, promptTokens, completionTokens, costNanos }) =>
        usageEvent({
          key_id: keys[caller],
          org_id: caller === 'owner' ? owner : other,
          admitted_at: atMs,
          endpoint: awsNameOf('sluice', ids[deployment], 1),
          duration_ms: durationMs,
          prompt_tokens: promptTokens,
          completion_tokens: completionTokens,
          cost_nanos: costNanos,
        }),
      ),
    );
  }, 180_000);

  // From the timeline and the requests alone, second by second.
  const plainTime = (name: keyof typeof ids, day: string | undefined) => {
    const [dayStart, dayEnd] = day === undefined ? [MONTH, MONTH_END] : [Date.parse(day), Date.parse(day) + DAY_MS];
    const busy = new Set<number>();
    for (const { deployment, atMs, durationMs } of calls)
      if (deployment === name)
        for (let ms = Math.floor(atMs / SECOND_MS) * SECOND_MS; ms < atMs + Math.max(durationMs, 1); ms += SECOND_MS) busy.add(ms);
    const seconds = { waking: 0, busy: 0, idle: 0, draining: 0 };
    const awake = new Set<number>();
    let [cost, charge] = [0n, 0n];
    const kindOf = (phase: Stretch['phase'], ms: number): keyof typeof seconds =>
      phase === 'starting' ? 'waking' : phase === 'draining' ? 'draining' : busy.has(ms) ? 'busy' : 'idle';
    for (const { fromMs, toMs, phase, instances } of TIMELINES[name])
      for (let ms = Math.max(fromMs, dayStart); ms < Math.min(toMs, dayEnd); ms += SECOND_MS) {
        awake.add(ms);
        seconds[kindOf(phase, ms)] += instances;
        cost += nanosAt(COSTS, ms) * BigInt(instances);
        charge += nanosAt(CHARGES, ms) * BigInt(instances);
      }
    return {
      seconds: { total: seconds.waking + seconds.busy + seconds.idle + seconds.draining, ...seconds },
      awake: awake.size,
      cost,
      charge,
    };
  };
  const times = new Map<string, ReturnType<typeof plainTime>>();
  const plain = (name: keyof typeof ids, day: string | undefined, whose: (call: Call) => boolean = () => true) => {
    const time = times.get(`${name} ${day}`) ?? plainTime(name, day);
    times.set(`${name} ${day}`, time);
    const isIn = (ms: number): boolean => day === undefined || dayOf(ms) === day;
    const served = calls.filter((call) => call.deployment === name && isIn(call.atMs) && whose(call));
    const sold = served.reduce((sum, { costNanos }) => sum + costNanos, 0n);
    return {
      ...time,
      sold,
      requests: served.length,
      prompt_tokens: served.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
      completion_tokens: served.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    };
  };

  const rowsOf = async (actor: Actor, query: Record<string, unknown>) => {
    const { data } = await ask(actor, query);
    return data;
  };
  const forPlatform = (name: keyof typeof ids, day?: string) => {
    const { seconds, awake, cost, charge, sold, ...tokens } = plain(name, day);
    return {
      deployment: ids[name],
      model: name,
      organization: ownerOf(name),
      instance_seconds: seconds,
      awake_seconds: awake,
      cost: dollarsOf(cost),
      revenue: { total: dollarsOf(sold + charge), tokens: dollarsOf(sold), gpu_time: dollarsOf(charge) },
      margin: dollarsOf(sold + charge - cost),
      ...tokens,
    };
  };

  test('has the margin of an independent computation, to the nano-dollar', async () => {
    const rows = await rowsOf(admin, { organization: owner });
    expect(rows).toHaveLength(2);
    for (const name of ['sleeper', 'steady'] as const)
      expect(rows.find(({ deployment }: { deployment: string }) => deployment === ids[name])).toMatchObject(forPlatform(name));
    expect(rows[0]).toMatchObject({ from: '2026-11-01', to: '2026-12-01', is_final: true });
  });

  test('has it for each day, cut at midnight on both sides, and the days add up to the month', async () => {
    const rows = await rowsOf(admin, { deployment: ids.steady, group_by: 'day' });
    expect(rows.map(({ from }: { from: string }) => from)).toEqual(['2026-11-09', '2026-11-10', '2026-11-11', '2026-11-12']);
    for (const row of rows) expect(row).toMatchObject(forPlatform('steady', row.from));
    const sum = (of: (row: { instance_seconds: { busy: number } }) => number) => rows.map(of).reduce((a: number, b: number) => a + b, 0);
    expect(sum(({ instance_seconds }) => instance_seconds.busy)).toBe(plain('steady', undefined).seconds.busy);
    expect(plain('steady', '2026-11-10').seconds.busy).toBeGreaterThan(58);
  });

  test('shows a day awake without any request as unused', async () => {
    const rows = await rowsOf(admin, { deployment: ids.steady, group_by: 'day', from: '2026-11-12', to: '2026-11-13' });
    expect(rows).toMatchObject([{ requests: 0, utilization: '0', awake_days: 1, unused_days: 1, attribution: null }]);
    expect(Number(rows[0].cost)).toBeGreaterThan(0);
    const month = await rowsOf(admin, { deployment: ids.sleeper });
    expect(month).toMatchObject([
      {
        awake_days: 30,
        unused_days: 30 - new Set(calls.filter(({ deployment }) => deployment === 'sleeper').map(({ atMs }) => dayOf(atMs))).size,
      },
    ]);
  });

  test('has no cost for a failed deployment on a type without one, and says so', async () => {
    const { seconds, charge } = plain('failure', undefined);
    expect(await rowsOf(admin, { deployment: ids.failure })).toMatchObject([
      {
        cost: null,
        known_cost: '0',
        cost_missing: ['no_cost_price'],
        margin: null,
        uncosted_instance_seconds: seconds.total,
        instance_seconds: seconds,
        revenue: { gpu_time: dollarsOf(charge) },
      },
    ]);
  });

  test('shows its owner what it was charged, and nothing of other organizations or of the platform’s cost', async () => {
    const rows = await rowsOf(actorOf('owner', owner), {});
    const own = plain('sleeper', undefined, ({ caller }) => caller === 'owner');
    expect(own.requests).toBeLessThan(plain('sleeper', undefined).requests);
    expect(rows.find(({ deployment }: { deployment: string }) => deployment === ids.sleeper)).toMatchObject({
      cost: dollarsOf(own.charge),
      cost_missing: [],
      revenue: null,
      margin: null,
      requests: own.requests,
      prompt_tokens: own.prompt_tokens,
      completion_tokens: own.completion_tokens,
    });
    expect(rows).toHaveLength(2);
    expect(await rowsOf(actorOf('owner', other), {})).toMatchObject([
      { deployment: ids.failure, cost: dollarsOf(plain('failure', undefined).charge) },
    ]);
  });

  test.each(['model', 'organization'])('has the same sums by %s', async (by) => {
    const nanos = (dollars: string): bigint => BigInt(Math.round(Number(dollars) * 1e9));
    const sums = async (query: object) => {
      const rows = await rowsOf(admin, { organization: owner, ...query });
      const add = (of: (row: { known_cost: string; requests: number; margin: string }) => bigint) =>
        rows.map(of).reduce((a: bigint, b: bigint) => a + b, 0n);
      return [add(({ known_cost }) => nanos(known_cost)), add(({ requests }) => BigInt(requests)), add(({ margin }) => nanos(margin))];
    };
    expect(await sums({ by })).toEqual(await sums({}));
  });

  test('is complete on the pages of all organizations, each row once', async () => {
    const rows = new Map<string, unknown>();
    let after: string | null = null;
    do {
      const { data, next } = await ask(admin, { ...(after !== null && { after }) });
      for (const row of data) {
        expect(rows.has(`${row.organization} ${row.deployment}`)).toBe(false);
        rows.set(`${row.organization} ${row.deployment}`, row);
      }
      after = next;
    } while (after !== null);
    for (const name of ['sleeper', 'steady'] as const) expect(rows.get(`${owner} ${ids[name]}`)).toMatchObject(forPlatform(name));
    expect(rows.has(`${other} ${ids.failure}`)).toBe(true);
  });

  test('is the same as CSV', async () => {
    const query = validate(EconomicsQuery, {
      ...NOVEMBER,
      organization: owner,
      format: 'csv',
      list_prompt: '0.22',
      list_completion: '0.22',
    });
    const { text, contentType } = await exportEconomics(deps, admin, query, {} as ApiEvent);
    expect(contentType).toContain('text/csv');
    const rows = parse(text, { columns: true }) as Record<string, string>[];
    const json = await rowsOf(admin, { organization: owner, list_prompt: '0.22', list_completion: '0.22' });
    expect(
      rows.map(({ deployment, cost, margin, busy_seconds, list_cost, attribution }) => [
        deployment,
        cost,
        margin,
        Number(busy_seconds),
        list_cost,
        attribution,
      ]),
    ).toEqual(
      json.map((row: EconomicsRow) => [
        row.deployment,
        row.cost,
        row.margin,
        row.instance_seconds.busy,
        row.list_cost,
        row.attribution?.rule ?? '',
      ]),
    );
    expect(rows).toHaveLength(2);
  });
});

describe('the economics of an organization', () => {
  test('have the revenue of requests that no deployment served, and no cost for them', async () => {
    const organization = await newOrganization();
    const at = { key_id: newId('key'), org_id: organization, admitted_at: MONTH + DAY_MS };
    await addUsage([
      usageEvent({ ...at, model: 'by-hand', endpoint: 'made-by-hand', prompt_tokens: 10, completion_tokens: 5, cost_nanos: 9n }),
    ]);
    const row = { deployment: null, cost: null, cost_missing: ['not_metered'], unmetered_tokens: 15, revenue: { tokens: '0.000000009' } };
    expect((await ask(admin, { organization })).data).toMatchObject([{ ...row, model: null }]);
    expect((await ask(admin, { organization, by: 'model' })).data).toMatchObject([{ ...row, model: 'by-hand' }]);
    expect((await ask(actorOf('owner', organization), {})).data).toEqual([]);
  });

  test('are not final while usage can still arrive', async () => {
    const organization = newId('organization');
    const deployment_id = newId('deployment');
    await addGpuTime([gpuEvent({ deployment_id, org_id: organization, started_at: MONTH, ended_at: MONTH + 60_000 })]);
    const isFinal = async (nowMs: number) =>
      (await ask(actorOf('owner', organization, nowMs), { from: '2026-11-01', to: '2026-11-02' })).data[0].is_final;
    expect(await isFinal(MONTH + 3 * DAY_MS - 1)).toBe(false);
    expect(await isFinal(MONTH + 3 * DAY_MS)).toBe(true);
  });

  test('correct a charge by a later rating, and no second twice', async () => {
    const organization = newId('organization');
    const deployment_id = newId('deployment');
    const event = gpuEvent({ deployment_id, org_id: organization, started_at: MONTH, ended_at: MONTH + 60_000, cost_nanos: 500n });
    const correction = { ...event, id: `${event.id}#rr_1`, seconds: 0, cost_nanos: -200n, rerate: { id: 'rr_1', from: 'price_1' } };
    await addGpuTime([event]);
    await addGpuTime([correction]);
    expect((await ask(actorOf('owner', organization), {})).data).toMatchObject([
      { cost: '0.0000003', instance_seconds: { total: 60 }, awake_seconds: 60 },
    ]);
  });

  test('are 404 for another organization and its deployments, whatever exists', async () => {
    const organization = newId('organization');
    const { id } = await storeDeployment(database, { organization });
    const stranger = actorOf('owner', newId('organization'));
    await expect(ask(stranger, { deployment: id })).rejects.toMatchObject({ status: 404, code: 'deployment_not_found' });
    await expect(ask(stranger, { organization })).rejects.toMatchObject({ status: 404 });
    await expect(ask(admin, { deployment: newId('deployment') })).rejects.toMatchObject({ status: 404 });
    expect((await ask(actorOf('owner', organization), { deployment: id })).data).toEqual([]);
  });

  test('read at most 1,000 days of deployments at once, and end a page when they were read', async () => {
    const days = (count: number) => ({
      listDays: async function* () {
        for (let i = 0; i < count; i++)
          yield { day: dayOf(MONTH + (i % 30) * DAY_MS), deploymentId: `dep_${Math.floor(i / 30)}`, name: 'a', instanceType: SMALL };
      },
      listByDeployment: async function* () {},
    });
    const page = { data: [{ id: 'org_1' }, { id: 'org_2' }, { id: 'org_3' }], next: 'org_3' };
    const run = (count: number, actor: Actor, query: object) => {
      const organizations = { ...deps.organizations, list: async () => page };
      return listEconomics(
        { ...deps, gpuEvents: days(count), organizations } as never,
        actor,
        validate(EconomicsQuery, { ...NOVEMBER, ...query }),
      );
    };
    const owner = actorOf('owner', newId('organization'));
    expect((await run(1_000, owner, {})).data).toHaveLength(34);
    await expect(run(1_001, owner, {})).rejects.toMatchObject({ status: 400, param: 'from' });
    const { data, next } = await run(600, admin, { by: 'organization' });
    expect(data.map(({ organization }) => organization)).toEqual(['org_1', 'org_2']);
    expect(next).toBe('org_2');
    expect((await run(100, admin, {})).next).toBe('org_3');
  });

  test('need days in order, at most 366 of them, and both list prices', async () => {
    const actor = actorOf('owner', newId('organization'));
    for (const query of [{ to: '2026-11-01' }, { from: '2025-10-01' }])
      await expect(ask(actor, query)).rejects.toMatchObject({ status: 400, param: 'to' });
    await expect(ask(actor, { list_prompt: '1' })).rejects.toMatchObject({ status: 400, param: 'list_completion' });
    await expect(ask(actor, { from: '2026-02-30' })).rejects.toMatchObject({
      status: 400,
      param: 'from',
      message: expect.stringContaining('expected a day, such as "2026-11-01"'),
    });
  });
});
