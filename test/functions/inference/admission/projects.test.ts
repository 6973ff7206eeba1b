import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { toSetLimiter } from '../../../../functions/control/organizations/organization-limiter.ts';
import { release } from '../../../../functions/inference/admission/admit.ts';
import type { Limits } from '../../../../shared/admission/item/limits.ts';
import { epochOf } from '../../../../shared/admission/item/sweep-epoch.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../../support/fixtures/callers.ts';
import { limitOrganization, limitProject } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sweepNow } from '../../../support/fixtures/sweep-now.ts';

const START = Date.UTC(2026, 10, 26, 12);
const DOLLAR = 1_000_000_000n;

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

const setUp = async (budgets?: { day?: bigint; month?: bigint }) => {
  const org = newId('organization');
  const project = newId('project');
  const fields = { org, project_id: project, requests_per_minute: 1_000_000 };
  const keys = [await makeKey(database.limiters, fields), await makeKey(database.limiters, fields)] as const;
  if (budgets) await limitProject(database.limiters, project, org, budgets);
  return { org, project, keys };
};

const ask = (caller: ReturnType<typeof makeCaller>, key: Parameters<typeof attempt>[1], nanos: bigint) =>
  attempt(caller, key, 1, newRequestId(caller.now()), nanos);

describe('the budget of a project', () => {
  test('is never exceeded by all of its keys together, and is used whole', async () => {
    const { project, keys } = await setUp({ month: 20n * DOLLAR, day: 12n * DOLLAR });
    const callers = Array.from({ length: 10 }, () => makeCaller(database.limiters, () => START));
    const results = await Promise.all(callers.flatMap((caller) => keys.map((key) => ask(caller, key, DOLLAR))));
    expect(results.filter(isAdmitted)).toHaveLength(12);
    const rejected = results.find((result) => !isAdmitted(result));
    expect(rejected).toMatchObject({ status: 429, type: 'insufficient_quota', param: null });
    expect((rejected as Error).message).toMatch(/daily budget of this project/);
    for (const result of results)
      if (isAdmitted(result)) await release(callers[0] as (typeof callers)[0], result, { tokens: 1, costNanos: 1n });
    const whole = await database.limiters.whole(project);
    expect(whole).toMatchObject({ fl: {}, spent: 12 });
  });

  test('counts in the project that the key was in at the admission', async () => {
    const { org, project, keys } = await setUp({ month: 9n * DOLLAR });
    const other = newId('project');
    await limitProject(database.limiters, other, org, { month: 9n * DOLLAR });
    const caller = makeCaller(database.limiters, () => START);
    const before = await ask(caller, keys[0], DOLLAR);
    await database.limiters.configure(keys[0].keyId, { prj: other });
    const after = await ask(caller, keys[0], DOLLAR);
    if (!isAdmitted(before) || !isAdmitted(after)) throw new Error('rejected');
    for (const admission of [before, after]) await release(caller, admission, { tokens: 1, costNanos: 7n });
    for (const id of [project, other]) expect(await database.limiters.get(id)).toMatchObject({ fl: {}, spent: 7 });
  });

  test('has a request whose function crashed, even if its key was moved meanwhile', async () => {
    const { org, project, keys } = await setUp({ month: 9n * DOLLAR });
    const other = newId('project');
    await limitProject(database.limiters, other, org, { month: 9n * DOLLAR });
    const crashed = await ask(
      makeCaller(database.limiters, () => START),
      keys[0],
      DOLLAR,
    );
    if (!isAdmitted(crashed)) throw crashed;
    await database.limiters.configure(keys[0].keyId, { prj: other });
    await database.limiters.markSwept(epochOf(START) - 1);
    const { limiters, usage } = database;
    const now = () => START + 20 * MINUTE_MS;
    const sweeping = { limiters, usage, database: database.database, now, maxInFlightMs: 11 * MINUTE_MS, hasTime: () => true };
    for (let run = 0; run < 2; run++) await sweepNow(sweeping);
    expect(await usage.get(keys[0].keyId, crashed.requestId)).toMatchObject({ outcome: 'orphaned', project_id: project, cost_nanos: 0n });
    expect(await limiters.get(project)).toMatchObject({ fl: {}, spent: 0 });
  });

  test('applies at once when it changes, and within 30 s when it is the first', async () => {
    const { org, project, keys } = await setUp();
    let now = START;
    const caller = makeCaller(database.limiters, () => now);
    expect(isAdmitted(await ask(caller, keys[0], DOLLAR))).toBe(true);
    await limitProject(database.limiters, project, org, { month: DOLLAR });
    now += 30_000;
    expect(isAdmitted(await ask(caller, keys[0], DOLLAR))).toBe(true);
    expect(isAdmitted(await ask(caller, keys[0], DOLLAR))).toBe(false);
    await database.limiters.configure(project, { bud_m: Number(3n * DOLLAR) });
    now += 5_000;
    expect(isAdmitted(await ask(caller, keys[0], DOLLAR))).toBe(true);
    await database.limiters.configure(project, { bud_m: Number(2n * DOLLAR) });
    expect(isAdmitted(await ask(caller, keys[1], DOLLAR))).toBe(false);
  });

  test('counts what is spent from the first one on, also while there is none', async () => {
    const { org, project, keys } = await setUp({ month: 10n * DOLLAR });
    let now = START;
    const caller = makeCaller(database.limiters, () => now);
    const setBudgets = async (budgets: Limits['budgets']): Promise<void> => {
      const limits = { requestsPerMinute: Infinity, tokensPerMinute: Infinity, concurrency: Infinity, budgets, isPrepaid: false };
      const settings = { status: 'active', limits, organization: org } as const;
      await database.limiters.writeAll((await toSetLimiter(database.limiters, project, settings, 'limits', now)).writes);
    };
    const spend = async (nanos: bigint): Promise<void> => {
      const admission = await ask(caller, keys[0], nanos);
      if (!isAdmitted(admission)) throw admission;
      await release(caller, admission, { tokens: 1, costNanos: nanos });
    };
    await spend(4n * DOLLAR);
    await setBudgets({});
    for (now of [START + 1_000, START + 40_000]) await spend(7n * DOLLAR);
    await setBudgets({ month: 20n * DOLLAR });
    expect(await ask(caller, keys[0], 3n * DOLLAR)).toMatchObject({ status: 429, type: 'insufficient_quota' });
    expect(await database.limiters.get(project)).toMatchObject({ fl: {}, spent: Number(18n * DOLLAR) });
    await spend(2n * DOLLAR);
  });

  test('costs a project that never had one no write, and one read in 30 s', async () => {
    const { keys } = await setUp();
    const caller = makeCaller(database.limiters, () => START);
    const first = await ask(caller, keys[0], DOLLAR);
    if (!isAdmitted(first)) throw first;
    const get = jest.spyOn(caller.store, 'get');
    const second = await ask(caller, keys[0], DOLLAR);
    if (!isAdmitted(second)) throw second;
    expect(second.reservations).toHaveLength(1);
    expect(second.roundTrips).toBe(1);
    expect(get).not.toHaveBeenCalled();
  });

  test('costs two writes a request, and no read once the project is known', async () => {
    const { keys } = await setUp({ month: 10n * DOLLAR });
    const caller = makeCaller(database.limiters, () => START);
    const first = await ask(caller, keys[0], DOLLAR);
    if (!isAdmitted(first)) throw first;
    const [get, end] = [jest.spyOn(caller.store, 'get').mockClear(), jest.spyOn(caller.store, 'end').mockClear()];
    const second = await ask(caller, keys[0], DOLLAR);
    if (!isAdmitted(second)) throw second;
    await release(caller, second, { tokens: 1, costNanos: 1n });
    expect(second.reservations).toHaveLength(2);
    expect(second.roundTrips).toBe(2);
    expect(end).toHaveBeenCalledTimes(2);
    expect(get).not.toHaveBeenCalled();
  });

  test('is split under load, like that of an organization', async () => {
    const { project, keys } = await setUp({ month: 10_000n * DOLLAR });
    const caller = makeCaller(database.limiters, () => START);
    const results = await Promise.all(Array.from({ length: 60 }, () => ask(caller, keys[0], DOLLAR)));
    for (const result of results) if (isAdmitted(result)) await release(caller, result, { tokens: 1, costNanos: 3n });
    expect(results.filter(isAdmitted)).toHaveLength(60);
    expect((await readAllShards(database.limiters, project)).length).toBeGreaterThan(1);
    expect(await database.limiters.whole(project)).toMatchObject({ fl: {}, spent: 180, bud_m: Number(10_000n * DOLLAR) });
  });

  test('is undone if the organization rejects the request', async () => {
    const { org, project, keys } = await setUp({ month: 9n * DOLLAR });
    await limitOrganization(database.limiters, org, { budgets: { month: DOLLAR } });
    const caller = makeCaller(database.limiters, () => START);
    expect(await ask(caller, keys[0], 2n * DOLLAR)).toMatchObject({ status: 429 });
    expect(await database.limiters.get(project)).toMatchObject({ fl: {}, spent: 0 });
    expect(await database.limiters.get(keys[0].keyId)).toMatchObject({ fl: {} });
  });
});
