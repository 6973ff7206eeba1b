import { isDeepStrictEqual } from 'node:util';
import { beforeEach, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { AdviceQuery, adviceFor } from '../../../../../functions/control/deployments/advice/advice.ts';
import { DeploymentUpdate } from '../../../../../functions/control/deployments/new-deployment.ts';
import { wantedGeneration } from '../../../../../functions/control/deployments/rollout.ts';
import { updateDeployment } from '../../../../../functions/control/deployments/update-deployment.ts';
import { addInstancePrice } from '../../../../../functions/control/instance-types/manage-instance-types.ts';
import type { BenchmarkCurve } from '../../../../../shared/deployments/benchmark.ts';
import { windowTimes } from '../../../../../shared/deployments/schedule.ts';
import { predictStart, windowLeadMs } from '../../../../../shared/deployments/start-times.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../../shared/time/units.ts';
import type { TestDatabase } from '../../../../support/emulators/database.ts';
import { benchmarkCurve, keepCurve } from '../../../../support/fixtures/gpu-time/benchmark-curve.ts';
import { officeDays, simulateLife, storeLife } from '../../../../support/fixtures/gpu-time/simulated-life.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../../support/fixtures/managed-deployments.ts';
import { gpuEvent } from '../../economics/economics-fixtures.ts';

const TODAY_MS = (Math.floor(NOW_MS / DAY_MS) + 5) * DAY_MS;
const RANGE = { fromMs: TODAY_MS - 4 * DAY_MS, toMs: TODAY_MS };

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});
let later: Actor;
beforeEach(() => {
  later = { ...owner, origin: { ...owner.origin, nowMs: TODAY_MS + 3 * MINUTE_MS } };
});

const adviceOf = (actor: Actor, id: string) => adviceFor(managed.deps, actor, id, AdviceQuery.parse({ days: '4' }));

const requests = officeDays(RANGE.fromMs, 4);

const live = async (idleMinutes: number) => {
  const { id, name } = await managed.create(owner, { scale_to_zero_after_seconds: idleMinutes * 60 });
  const life = simulateLife(requests, { range: RANGE, idleMs: idleMinutes * MINUTE_MS, seed: 5, deployment: { id, organization, name } });
  await storeLife(emulator, { id, organization }, { life, requests, range: RANGE });
  return { id, life };
};

const secondsOf = (events: readonly { seconds: number }[]): number => events.reduce((sum, { seconds }) => sum + seconds, 0);

test('a replay of the present settings equals what was metered, and the suggestion saves what it says', async () => {
  const { id, life } = await live(40);
  const advice = await adviceOf(later, id);
  expect(advice).toMatchObject({ from: RANGE.fromMs / SECOND_MS, to: RANGE.toMs / SECOND_MS, requests: requests.length });
  expect(advice.metered.instance_seconds).toBe(secondsOf(life.events));
  expect(advice.present).toMatchObject({ ...advice.metered, scale_to_zero_after_seconds: 2_400, cold_starts: life.coldStarts });

  const { suggestion } = advice;
  const { scale_to_zero_after_seconds = 2_400, schedule = [] } = suggestion?.apply.body ?? {};
  const body = { scale_to_zero_after_seconds, schedule };
  const option = advice.options.find((each) =>
    Object.entries(body).every(([name, value]) => isDeepStrictEqual(each[name as never], value)),
  );
  const windows = windowTimes(body.schedule, RANGE.fromMs, RANGE.toMs).map(({ startMs, endMs }) => ({
    fromMs: startMs - windowLeadMs(predictStart([], [])),
    toMs: endMs,
  }));
  const idleSeconds = body.scale_to_zero_after_seconds;
  const applied = simulateLife(requests, { range: RANGE, idleMs: (idleSeconds ?? 0) * SECOND_MS, windows, seed: 6 });
  expect(option?.cold_starts).toBe(applied.coldStarts);
  // At each start and each sleep, a pass can be a minute earlier or later.
  const starts = applied.coldStarts + windows.length;
  expect(Math.abs((option?.instance_seconds ?? 0) - secondsOf(applied.events))).toBeLessThanOrEqual(starts * 2 * 61);
  expect(suggestion?.sentence).toMatch(
    /^Stay awake mon, tue, wed, sun 08:00-18:00 UTC, and sleep after 1 minute without a request, rather than after 40 minutes: that /,
  );
});

test('a suggestion is applied with the request that it contains', async () => {
  const { id } = await live(40);
  const { suggestion } = await adviceOf(later, id);
  expect(suggestion?.apply).toMatchObject({ method: 'PATCH', path: `/v1/deployments/${id}` });
  const body = suggestion?.apply.body ?? { scale_to_zero_after_seconds: 0 };
  expect(await updateDeployment(managed.deps, owner, { id }, body)).toMatchObject(body);
});

test('a deployment without a whole day has no suggestion yet', async () => {
  const { id } = await managed.create(owner);
  expect(await adviceOf(owner, id)).toMatchObject({
    requests: 0,
    metered: { instance_seconds: 0, cost: '0' },
    present: null,
    options: [],
    suggestion: null,
  });
});

test('a deployment that nobody called and that never ran costs nothing with any setting', async () => {
  const { id } = await managed.create(owner);
  expect(await adviceOf(later, id)).toMatchObject({
    present: { instance_seconds: 0, cold_starts: 0 },
    options: [{ cost: '0' }],
    suggestion: null,
  });
});

test('a deployment that ran only in windows, or not yet, is replayed with the starts of others on its type', async () => {
  managed.setStartSeconds([481.234, 502.5, 700.001]);
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
  const schedule = [{ days: [...days], from: '08:00', to: '09:00', time_zone: 'UTC', min_copies: 1 }];
  const { id } = await managed.create(owner, { schedule, scale_to_zero_after_seconds: 60 });
  const { present, metered } = await adviceOf(later, id);
  expect(metered.instance_seconds).toBe(0);
  // The window, the early start of at most 12 minutes and the release of about 14, each day.
  expect(present?.cold_starts).toBe(0);
  expect(present?.instance_seconds).toBeGreaterThan(4 * 3_600);
  expect(present?.instance_seconds).toBeLessThan(4 * (3_600 + 30 * 60));
});

test('other instance types are replayed if a benchmark of the same model can be compared, and no others', async () => {
  const keep = async (deployment: string, ended_at: number, fields: Partial<BenchmarkCurve> = {}): Promise<void> => {
    const { model } = await managed.stored(deployment).then(wantedGeneration);
    const curve = benchmarkCurve({ id: `bench_${ended_at}`, ended_at, model, ...fields });
    await keepCurve(emulator, managed.deps.benchmarks, deployment, curve);
  };
  const { id } = await live(40);
  const others = async () => (await adviceOf(later, id)).other_instance_types;
  const ofType = { instance_type: 'ml.g6.xlarge' };
  const { id: other } = await managed.create(owner, { name: 'other', instance_types: ['ml.g6.xlarge'] });
  await keep(other, 1, ofType);
  expect(await others()).toEqual([]);
  await keep(id, 2);
  const [found, ...more] = await others();
  expect(more).toEqual([]);
  expect(found).toMatchObject({ ...ofType, benchmark: 'bench_1', compared_with: 'bench_2', request_percent: 100 });
  // As fast as the present one, at $1 an hour.
  const { options, present } = await adviceOf(later, id);
  expect(found?.options.map(({ instance_seconds: seconds }) => seconds)).toContain(options[0]?.instance_seconds);
  for (const { cost, instance_seconds: seconds } of found?.options ?? []) expect(Number(cost)).toBeCloseTo(seconds / 3_600, 6);
  expect(present?.instance_seconds).toBeGreaterThan(0);

  // None of these can be compared: other lengths, other goals, no result, an unknown type, and another model.
  await keep(other, 3, { ...ofType, mix: [{ prompt_tokens: 200, completion_tokens: 10, weight: 1 }] });
  await keep(other, 4, { ...ofType, goals: { ttft_p95_ms: 1_000, inter_token_p95_ms: 100 } });
  await keep(other, 5, { ...ofType, result: null });
  await keep(other, 6, { instance_type: 'ml.unknown.xlarge' });
  await keep(other, 7, { ...ofType, model: 's3://weights/other/' });
  const { owner: stranger } = await managed.newTenant();
  const { id: foreign } = await managed.create(stranger, { name: 'foreign', instance_types: ['ml.g5.12xlarge'] });
  await keep(foreign, 8, { instance_type: 'ml.g5.12xlarge', model: (await managed.stored(id).then(wantedGeneration)).model });
  expect((await others()).map(({ benchmark }) => benchmark)).toEqual(['bench_1']);
  // An older generation of the deployment itself, on another type with a price.
  await keep(id, 9, { instance_type: 'ml.g5.12xlarge' });
  expect((await others()).map(({ instance_type: type }) => type)).toEqual(['ml.g5.12xlarge', 'ml.g6.xlarge']);
  // A type whose first price came after these days.
  await addInstancePrice(managed.deps, { ...managed.admin, origin: later.origin }, 'ml.g6.2xlarge', { per_hour: '2' });
  await keep(other, 10, { instance_type: 'ml.g6.2xlarge' });
  const [priced] = await others();
  expect(priced?.options.length).toBeGreaterThan(0);
  for (const { cost, instance_seconds: seconds } of priced?.options ?? []) expect(Number(cost)).toBeCloseTo((seconds * 2) / 3_600, 6);
});

test("another organization's deployment is not found", async () => {
  const { id } = await managed.create(owner);
  await expect(adviceOf({ ...later, organization: 'org_other' }, id)).rejects.toMatchObject({ status: 404 });
  await expect(adviceOf(managed.admin, id)).resolves.toMatchObject({ deployment: id });
});

test('windows are tried in the time zone that is asked for, or else in that of the schedule', async () => {
  const { id } = await live(40);
  const zonesOf = async (query: object): Promise<unknown[]> => {
    const { options } = await adviceFor(managed.deps, later, id, AdviceQuery.parse({ days: '4', ...query }));
    return [...new Set(options.flatMap(({ schedule }) => schedule.map(({ time_zone: zone }) => zone)))];
  };
  expect(await zonesOf({})).toEqual(['UTC']);
  expect(await zonesOf({ time_zone: 'America/New_York' })).toEqual(['America/New_York']);
  const window = { days: ['mon'], from: '08:00', to: '09:00', time_zone: 'Asia/Tokyo', min_copies: 1 };
  await updateDeployment(managed.deps, owner, { id }, DeploymentUpdate.parse({ schedule: [window] }));
  expect(await zonesOf({})).toEqual(['Asia/Tokyo']);
  expect(AdviceQuery.safeParse({ time_zone: 'Mars/Olympus' }).success).toBe(false);
});

test('fewer copies are tried only if they have room for the requests that were in flight', async () => {
  const costsOf = async (durationMs: bigint) => {
    const { id } = await managed.create(owner, {
      name: `copies-${durationMs}`,
      copies: { min: 2, max: 2 },
      max_concurrency_per_copy: 8,
      scale_to_zero_after_seconds: 60,
    });
    const events = [
      gpuEvent({
        deployment_id: id,
        org_id: organization,
        instances: 2,
        started_at: RANGE.fromMs,
        ended_at: RANGE.toMs,
        cost_nanos: 10n ** 13n,
      }),
    ];
    const life = { events, busy: [{ fromMs: RANGE.fromMs, toMs: RANGE.fromMs + 100 * SECOND_MS }], coldStarts: 0 };
    await storeLife(emulator, { id, organization }, { life, requests: [{ atMs: RANGE.fromMs, serviceMs: 1 }], range: RANGE, durationMs });
    const { options } = await adviceOf(later, id);
    return options.map(({ min_copies: copies }) => copies);
  };
  // Two in flight on average over 100 seconds are a quarter of eight, and a little more is too much.
  expect(await costsOf(200_000n)).toContain(1);
  expect(await costsOf(201_000n)).not.toContain(1);
  // Rows of an earlier release don't say it.
  expect(await costsOf(0n)).not.toContain(1);
});

test.each([['0'], ['31'], ['1.5'], ['a']])('`days` can’t be %s', (days) => {
  expect(AdviceQuery.safeParse({ days }).success).toBe(false);
});
