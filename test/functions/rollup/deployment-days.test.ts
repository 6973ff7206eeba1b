import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { recompute } from '../../../functions/rollup/rollup.ts';
import { rebuild } from '../../../infra/tools/admin/rebuild/rebuild-totals.ts';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { createDeploymentDayStore, type DeploymentUsage } from '../../../shared/usage/deployment-day-store.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { BUCKET_MS } from '../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { rollupStores } from '../../support/fixtures/rollups.ts';
import { sized } from '../../support/sized.ts';

const DAY = '2026-11-21';
const MIDNIGHT = Date.parse(DAY);

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const storesOf = () => rollupStores(database.database, database.tables.Usage as string);
const daysOf = () => createDeploymentDayStore(database.database, database.tables.Usage as string);

interface Caller {
  key: string;
  organization: string;
}

const newCaller = (): Caller => ({ key: newId('key'), organization: newId('organization') });

const eventOf = (caller: Caller, deployment: string, atMs: number, fields: Partial<UsageEvent> = {}): UsageEvent => ({
  request_id: newRequestId(atMs),
  key_id: caller.key,
  org_id: caller.organization,
  model: 'chat',
  route: '/v1/chat/completions',
  prompt_tokens: 100,
  cached_tokens: 10,
  completion_tokens: 20,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: atMs,
  time_to_first_token_ms: 300,
  duration_ms: 500,
  step_ends_ms: [1, 2, 3, 100, 200, 490],
  cost_nanos: 7n,
  price_version: '1',
  endpoint: awsNameOf('sluice', deployment, 1),
  ...fields,
});

const put = (event: UsageEvent) => database.usage.putIfAbsent(event);
const bucketOf = ({ key_id, admitted_at }: UsageEvent) => ({ shard: key_id, startMs: Math.floor(admitted_at / BUCKET_MS) * BUCKET_MS });

const read = (deployment: string) => daysOf().read(deployment, '2026-11-20', '2026-11-23');
const busySeconds = async (deployment: string, fromMs: number, toMs: number) => (await read(deployment)).busy.countIn(fromMs, toMs);

describe('the days of a deployment', () => {
  test('have the tokens, money and times of each organization that used it, by the day of arrival', async () => {
    const deployment = newId('deployment');
    const [one, other] = [newCaller(), newCaller()];
    const events = [
      eventOf(one, deployment, MIDNIGHT - 1),
      eventOf(one, deployment, MIDNIGHT, { model: 'shared' }),
      eventOf(one, deployment, MIDNIGHT + 5 * MINUTE_MS, { endpoint: awsNameOf('sluice', deployment, 2) }),
      eventOf(other, deployment, MIDNIGHT + 9 * MINUTE_MS),
      eventOf(other, newId('deployment'), MIDNIGHT + 9 * MINUTE_MS),
      eventOf(other, deployment, MIDNIGHT + 9 * MINUTE_MS, { endpoint: 'made-by-hand' }),
    ];
    for (const event of events) await put(event);
    await recompute(storesOf(), events.map(bucketOf));
    const of = (day: string, { organization }: Caller, n: number): DeploymentUsage => ({
      deployment,
      day,
      organization,
      totals: {
        events: n,
        requests: n,
        prompt_tokens: BigInt(100 * n),
        cached_tokens: BigInt(10 * n),
        completion_tokens: BigInt(20 * n),
        cost_nanos: BigInt(7 * n),
        prompt_ms_sum: BigInt(200 * n),
        generation_ms_sum: BigInt(190 * n),
        duration_ms_sum: BigInt(500 * n),
      },
    });
    const { usage } = await read(deployment);
    const sorted = [of(DAY, one, 2), of(DAY, other, 1)].sort((a, b) => (a.organization < b.organization ? -1 : 1));
    expect(usage).toEqual([of('2026-11-20', one, 1), ...sorted]);
  });

  test('count a second once, however many requests of however many keys were in flight', async () => {
    const deployment = newId('deployment');
    const callers = [newCaller(), newCaller(), newCaller()];
    const events = callers.map((caller, i) => eventOf(caller, deployment, MIDNIGHT + i * 500, { duration_ms: 2_000 }));
    for (const event of events) await put(event);
    await Promise.all(events.map((event) => recompute(storesOf(), [bucketOf(event)])));
    expect(await busySeconds(deployment, MIDNIGHT, MIDNIGHT + DAY_MS)).toBe(3);
  });

  test('count a request that runs over midnight in the seconds of both days', async () => {
    const deployment = newId('deployment');
    const event = eventOf(newCaller(), deployment, MIDNIGHT - 3_000, { duration_ms: 10_000 });
    await put(event);
    await recompute(storesOf(), [bucketOf(event)]);
    expect(await busySeconds(deployment, MIDNIGHT - DAY_MS, MIDNIGHT)).toBe(3);
    expect(await busySeconds(deployment, MIDNIGHT, MIDNIGHT + DAY_MS)).toBe(7);
    expect((await read(deployment)).usage.map(({ day }) => day)).toEqual(['2026-11-20']);
  });

  test('equal their events, whatever order concurrent consumers see them in', async () => {
    const Request = fc.record({ caller: fc.nat(2), atMs: fc.nat(20 * MINUTE_MS), durationMs: fc.nat(60_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(Request, { minLength: 1, maxLength: 12 }), async (requests) => {
        const deployment = newId('deployment');
        const callers = [newCaller(), newCaller(), newCaller()];
        const events = requests.map(({ caller, atMs, durationMs }) =>
          eventOf(callers[caller] as Caller, deployment, MIDNIGHT - 10 * MINUTE_MS + atMs, { duration_ms: durationMs }),
        );
        await Promise.all(
          events.map(async (event) => {
            await put(event);
            await recompute(storesOf(), [bucketOf(event)]);
          }),
        );
        const { usage, busy } = await read(deployment);
        const sum = usage.reduce((count, { totals }) => count + totals.requests, 0);
        expect(sum).toBe(events.length);
        let expected = 0;
        for (let ms = MIDNIGHT - 10 * MINUTE_MS; ms < MIDNIGHT + 12 * MINUTE_MS; ms += SECOND_MS)
          if (events.some((e) => e.admitted_at < ms + SECOND_MS && e.admitted_at + Math.max(e.duration_ms, 1) > ms)) expected++;
        expect(busy.countIn(MIDNIGHT - 10 * MINUTE_MS, MIDNIGHT + 12 * MINUTE_MS)).toBe(expected);
      }),
      { numRuns: sized(5, 40) },
    );
  });

  test('are made again by `rebuild`: missing rows are no drift, wrong ones are', async () => {
    const deployment = newId('deployment');
    const caller = newCaller();
    await put(eventOf(caller, deployment, MIDNIGHT + 1_000));
    const keys = [{ id: caller.key, shards: 1, organization: caller.organization }];
    const run = async () => (await rebuild(storesOf(), DAY, keys, () => MIDNIGHT + 7 * DAY_MS)).organizations.drift;
    await recompute({ ...storesOf(), deploymentDays: undefined as never }, [{ shard: caller.key, startMs: MIDNIGHT }]);
    expect(await read(deployment)).toMatchObject({ usage: [] });
    expect(await run()).toEqual({ rows: 0, events: 0, cost_nanos: 0n });
    const { usage, busy } = await read(deployment);
    expect([usage.length, busy.countIn(MIDNIGHT, MIDNIGHT + DAY_MS)]).toEqual([1, 1]);
    const [right] = usage as [DeploymentUsage];
    await daysOf().replaceUsage(right.totals, { ...right, totals: { ...right.totals, cost_nanos: 9n } });
    expect(await run()).toEqual({ rows: 1, events: 0, cost_nanos: 2n });
    expect((await read(deployment)).usage).toEqual([right]);
  });
});
