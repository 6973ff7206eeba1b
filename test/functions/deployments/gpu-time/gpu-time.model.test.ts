import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { createMeterPass, repeatForCredit } from '../../../../functions/deployments/gpu-time/gpu-time.ts';
import type { Admission } from '../../../../functions/inference/admission/admit.ts';
import { settle } from '../../../../functions/inference/pipeline/settle-request.ts';
import { entriesOf, type LimiterItem, shardsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { nextToSplit, shardId } from '../../../../shared/admission/item/shards.ts';
import { planSplit } from '../../../../shared/admission/plans/split-shard.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { Deployment, RunningInstances } from '../../../../shared/deployments/deployment.ts';
import { createHoldStartCredit, OutOfCredit, type StartCredit } from '../../../../shared/gpu-time/start-credit.ts';
import { PreconditionFailed } from '../../../../shared/http/errors.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash, unreliable } from '../../../support/faults/unreliable-database.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../../support/fixtures/callers.ts';
import { eventOf } from '../../../support/fixtures/completed-event.ts';
import { deploymentsOf, storeDeployment } from '../../../support/fixtures/deployments.ts';
import { PRICES, START, small } from '../../../support/fixtures/gpu-time/gpu-time-fixtures.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sized } from '../../../support/sized.ts';

const RUNS = sized(8, 20);
const OPERATIONS = 40;
// Fixed, so that a failure can be repeated.
const SEED = 20_261_123;
const MAX_SHARDS = 4;
const FIRST_DAY = '2026-11-01';
const LAST_DAY = '2026-12-31';

let database: TestDatabase;
// With the permissions of the function.
let deploying: Database;
beforeAll(async () => {
  database = await startTestDatabase();
  deploying = await database.as('deployments');
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const Look = fc.record({
  kind: fc.constant('look' as const),
  afterMs: fc.oneof(fc.integer({ min: 1_000, max: 70_000 }), fc.integer({ min: 0, max: HOUR_MS })),
  instances: fc.integer({ min: 0, max: 2 }),
  isStarting: fc.boolean(),
  /** How many passes are made at once. */
  passes: fc.constantFrom(1, 1, 2),
  /** Which of the database's calls is the last before a crash; `after`: it is made, but its reply is lost. */
  crash: fc.option(fc.record({ call: fc.nat(4), when: fc.constantFrom('before' as const, 'after' as const) }), { nil: undefined, freq: 3 }),
});
const operation = fc.oneof(
  { weight: 8, arbitrary: Look },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      holdNanos: fc.bigInt({ min: 1n, max: 60_000_000n }),
      /** Made while a pass reads and writes. */
      isConcurrent: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('settle' as const), share: fc.bigInt({ min: 0n, max: 100n }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('grant' as const), nanos: fc.bigInt({ min: -100_000_000n, max: 600_000_000n }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('split' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('start' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prepaid' as const), isPrepaid: fc.boolean() }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

const createWorld = async () => {
  const { limiters, usage } = database;
  const organization = newId('organization');
  const key = await makeKey(limiters, { org: organization });
  await limitOrganization(limiters, organization, { isPrepaid: true, concurrency: 1_000 });
  const { id } = await storeDeployment(database, { organization, created_at: START });
  const deployments = deploymentsOf(database);
  const gpuEvents = createGpuEventStore(database.database, database.tables.Usage as string);
  let now = START;
  let grants = 0;
  let granted = 0n;
  let spent = 0n;
  let lowest = 0n;
  const inFlight: { admission: Admission; holdNanos: bigint }[] = [];
  // Instance-milliseconds since the last stored pass; the current interval is still open.
  let ranMs = 0;
  let last: { atMs: number; running: RunningInstances[] } = { atMs: START, running: [] };

  const shards = (): Promise<LimiterItem[]> => readAllShards(limiters, organization);
  const count = (running: readonly RunningInstances[]): number => running.reduce((sum, { instances }) => sum + instances, 0);

  const passOn = (line: Database, before: Deployment, running: RunningInstances[], isStarting: boolean): Promise<void> =>
    repeatForCredit(async (canDraw) => {
      const tables = { usageTable: database.tables.Usage as string, keysTable: database.tables.Keys as string };
      const meterPass = createMeterPass({ database: line, ...tables, pricesOf: async (type) => PRICES.get(type) ?? [] });
      const { meter, writes } = await meterPass({ deployment: before, running, nowMs: now, isStarting, canDraw });
      // Each pass writes the row, so that every one can come first.
      await transact(line, [deployments.toReplace({ ...before, ...(meter && { meter }) }), ...writes]);
    });

  const look = async ({ afterMs, instances, isStarting, passes, crash }: Extract<Operation, { kind: 'look' }>): Promise<void> => {
    now += afterMs;
    const running = instances === 0 ? [] : [small(instances)];
    const before = await deployments.get(organization, id);
    let calls = 0;
    const faults = { random: () => 1, lostRequests: 0, lostReplies: 0 };
    const line = unreliable(deploying, { ...faults, crash: (_, when) => when === crash?.when && calls++ === crash.call });
    const outcomes = await Promise.allSettled(
      Array.from({ length: passes }, (_, i) => passOn(i === 0 ? line : deploying, before, running, isStarting)),
    );
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    for (const failure of failures) expect(failure instanceof Crash || failure instanceof PreconditionFailed).toBe(true);
    const after = await deployments.get(organization, id);
    // At most one of the passes that began with the same row is stored.
    expect(after.version - before.version).toBeLessThanOrEqual(1);
    expect(outcomes.length - failures.length).toBeLessThanOrEqual(1);
    if (after.version === before.version) return;
    const at = Math.floor(now / SECOND_MS) * SECOND_MS;
    ranMs += (at - last.atMs) * count(last.running);
    last = { atMs: at, running };
  };

  const request = async ({ holdNanos, isConcurrent }: Extract<Operation, { kind: 'request' }>): Promise<void> => {
    const admitting = attempt(
      makeCaller(limiters, () => now),
      key,
      1,
      undefined,
      holdNanos,
    );
    if (isConcurrent) await look({ kind: 'look', afterMs: 15_000, instances: 2, isStarting: false, passes: 1, crash: undefined });
    const admission = await admitting;
    if (isAdmitted(admission)) inFlight.push({ admission, holdNanos });
  };

  const settleOne = async ({ share }: Extract<Operation, { kind: 'settle' }>): Promise<void> => {
    const [one] = inFlight.splice(0, 1);
    if (!one) return;
    const costNanos = (one.holdNanos * share) / 100n;
    const event = eventOf(one.admission, { tokens: 1, costNanos });
    await settle({ usage, keys: makeCaller(limiters, () => now) }, one.admission, event);
    if (one.admission.reservations.some(({ entry }) => entry.isFromCredit)) spent += costNanos;
  };

  const start = async (): Promise<void> => {
    const before = await deployments.get(organization, id);
    const catalogue = { instanceTypes: { get: async (type: string) => ({ id: type, accelerators: 1, prices: PRICES.get(type) }) } };
    const hold = createHoldStartCredit(database.database, database.tables.Keys as string, catalogue as never);
    const { meter, writes } = await hold(before, now).catch((error: unknown): StartCredit => {
      if (!(error instanceof OutOfCredit)) throw error;
      return { writes: [] };
    });
    if (meter) await transact(database.database, [deployments.toReplace({ ...before, meter }), ...writes]);
  };

  const held = async (): Promise<bigint> => (await deployments.get(organization, id)).meter?.held_nanos ?? 0n;

  const grant = async ({ nanos }: Extract<Operation, { kind: 'grant' }>): Promise<void> => {
    grants++;
    granted += nanos;
    await limiters.addGrant(organization, grants, nanos);
  };

  const split = async (): Promise<void> => {
    const number = shardsOf((await limiters.get(organization)) as LimiterItem);
    const [next] = number < MAX_SHARDS ? nextToSplit(number, 1) : [];
    const parent = next === undefined ? undefined : await limiters.get(shardId(organization, next));
    const plan = parent && planSplit(parent, shardId(organization, number), now);
    if (plan) await limiters.split(organization, [plan], number);
  };

  const prepaid = ({ isPrepaid }: Extract<Operation, { kind: 'prepaid' }>): Promise<void> =>
    limitOrganization(limiters, organization, { isPrepaid, concurrency: 1_000 }, now);

  /** @param after the operation that was just made; only a deduction makes credit negative */
  const check = async (after: Operation['kind']): Promise<void> => {
    const { meter } = await deployments.get(organization, id);
    const items = await shards();
    const available = items.reduce((sum, { avail = 0 }) => sum + BigInt(avail), 0n);
    if (after !== 'grant') expect(available >= lowest).toBe(true);
    lowest = available < 0n ? available : 0n;
    const holds = items.flatMap(entriesOf).map(([, { isFromCredit, holdNanos }]) => (isFromCredit ? holdNanos : 0n));
    const held = holds.reduce((sum, hold) => sum + hold, meter?.held_nanos ?? 0n);
    const days = await Array.fromAsync(gpuEvents.listDays(organization, FIRST_DAY, LAST_DAY));
    const paid = days.reduce((sum, { prepaidNanos }) => sum + prepaidNanos, 0n);
    expect({ granted }).toEqual({ granted: spent + paid + held + available });
    // The metered time and the open interval together are the time between the stored passes.
    const openMs = meter ? (last.atMs - meter.until) * count(meter.running) : 0;
    const meteredMs = Number(days.reduce((sum, { instanceSeconds }) => sum + instanceSeconds, 0n)) * SECOND_MS;
    expect(meteredMs + openMs).toBe(ranMs);
  };

  const checkEvents = async (): Promise<void> => {
    const events = await Array.fromAsync(gpuEvents.listByDeployment(id, '2026-11-21', '2026-11-23'));
    const days = await Array.fromAsync(gpuEvents.listDays(organization, FIRST_DAY, LAST_DAY));
    const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
    expect(sum(events.map(({ cost_nanos }) => cost_nanos))).toBe(sum(days.map(({ costNanos }) => costNanos)));
    expect(sum(events.map(({ seconds, instances }) => BigInt(seconds * instances)))).toBe(
      sum(days.map(({ instanceSeconds }) => instanceSeconds)),
    );
    for (const [i, { ended_at }] of events.entries()) expect(events[i + 1]?.started_at ?? ended_at).toBeGreaterThanOrEqual(ended_at);
  };
  return { look, request, settle: settleOne, start, grant, split, prepaid, held, check, checkEvents };
};

test(`keeps granted = spent + held + available at all times (${RUNS} × ${OPERATIONS} random operations)`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: OPERATIONS, maxLength: OPERATIONS }), async (operations) => {
      const world = await createWorld();
      await world.grant({ kind: 'grant', nanos: 1_500_000_000n });
      for (const next of operations) {
        await world[next.kind](next as never);
        await world.check(next.kind);
      }
      // At last, nothing runs any more.
      await world.look({ kind: 'look', afterMs: MINUTE_MS, instances: 0, isStarting: false, passes: 1, crash: undefined });
      await world.check('look');
      expect(await world.held()).toBe(0n);
      await world.checkEvents();
    }),
    { numRuns: RUNS, endOnFailure: true, seed: SEED },
  );
});

test('meters a deployment although requests use the credit during every attempt to take it', async () => {
  const { limiters } = database;
  const organization = newId('organization');
  await limitOrganization(limiters, organization, { isPrepaid: true });
  await limiters.addGrant(organization, 1, 100_000_000n);
  const { id } = await storeDeployment(database, { organization, created_at: START });
  const deployments = deploymentsOf(database);
  const tables = { usageTable: database.tables.Usage as string, keysTable: database.tables.Keys as string };
  const meterPass = createMeterPass({ database: database.database, ...tables, pricesOf: async (type) => PRICES.get(type) ?? [] });
  let attempts = 0;
  await repeatForCredit(async (canDraw) => {
    attempts++;
    const before = await deployments.get(organization, id);
    const { meter, writes } = await meterPass({ deployment: before, running: [small(1)], nowMs: START, canDraw });
    await limiters.addGrant(organization, attempts + 1, -1n);
    await transact(database.database, [deployments.toReplace({ ...before, ...(meter && { meter }) }), ...writes]);
  });
  expect(attempts).toBe(4);
  expect((await deployments.get(organization, id)).meter).toMatchObject({ until: START, running: [small(1)], held_nanos: 0n });
  expect((await limiters.get(organization))?.avail).toBe(100_000_000 - 4);
});
