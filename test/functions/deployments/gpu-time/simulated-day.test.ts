import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createMeterPass } from '../../../../functions/deployments/gpu-time/gpu-time.ts';
import { meterPass } from '../../../../functions/deployments/gpu-time/meter-pass.ts';
import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { GpuMeter, RunningInstances } from '../../../../shared/deployments/deployment.ts';
import type { InstancePrices } from '../../../../shared/gpu-time/intervals.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { deploymentsOf, storeDeployment } from '../../../support/fixtures/deployments.ts';
import { LARGE, PRICE_CHANGE, PRICES, SMALL, START, small } from '../../../support/fixtures/gpu-time/gpu-time-fixtures.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const END = START + 24 * HOUR_MS;
const CREDIT = 1_000_000_000_000n;

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

const large = (phase: RunningInstances['phase']): RunningInstances => small(2, { generation: 2, instance_type: LARGE, phase });

// The instances that truly run, from an offset in ms on: scaling, a generation that fails, sleep, a wake and a stop.
const TRUTH: readonly (readonly [atMs: number, running: RunningInstances[]])[] = [
  [0, []],
  [7 * MINUTE_MS + 311, [small(1, { phase: 'starting' })]],
  [16 * MINUTE_MS + 4_020, [small(1)]],
  [3 * HOUR_MS + 41_777, [small(3)]],
  [5 * HOUR_MS + 12 * MINUTE_MS, [small(3), large('starting')]],
  [5 * HOUR_MS + 43 * MINUTE_MS + 999, [small(3), large('draining')]],
  [5 * HOUR_MS + 47 * MINUTE_MS + 1, [small(3)]],
  [7 * HOUR_MS + 30_500, [small(2)]],
  [8 * HOUR_MS, [small(2, { phase: 'draining' })]],
  [8 * HOUR_MS + 12 * MINUTE_MS, []],
  [11 * HOUR_MS + 5_250, [small(1, { phase: 'starting' })]],
  [11 * HOUR_MS + 9 * MINUTE_MS + 24_000, [small(1)]],
  [22 * HOUR_MS + 30 * MINUTE_MS, [small(1, { phase: 'draining' })]],
  [22 * HOUR_MS + 34 * MINUTE_MS + 17, []],
];

const trueAt = (ms: number): RunningInstances[] => TRUTH.findLast(([atMs]) => START + atMs <= ms)?.[1] ?? [];

// Passes are 15 to 60 seconds apart.
const passTimes = (seed: number): number[] => {
  const random = seededRandom(seed);
  const times: number[] = [];
  for (let ms = START + 3_210; ms < END; ms += 15_000 + Math.floor(random() * 45_000)) times.push(ms);
  return [...times, END];
};

const run = async (prices: InstancePrices, times: readonly number[]) => {
  const organization = newId('organization');
  await limitOrganization(database.limiters, organization, { isPrepaid: true });
  await database.limiters.addGrant(organization, 1, CREDIT);
  const { id } = await storeDeployment(database, { organization, created_at: START });
  const deployments = deploymentsOf(database);
  const pass = createMeterPass({
    database: database.database,
    usageTable: database.tables.Usage as string,
    keysTable: database.tables.Keys as string,
    pricesOf: async (type) => prices.get(type) ?? [],
  });
  let deployment = await deployments.get(organization, id);
  for (const nowMs of times) {
    const { meter, writes, stop } = await pass({ deployment, running: trueAt(nowMs), nowMs });
    expect(stop).toBeUndefined();
    if (meter === undefined || meter === deployment.meter) continue;
    await transact(database.database, [deployments.toReplace({ ...deployment, meter }), ...writes]);
    deployment = await deployments.get(organization, id);
  }
  const events = createGpuEventStore(database.database, database.tables.Usage as string);
  return {
    deployment,
    events: await Array.fromAsync(events.listByDeployment(id, '2026-11-21', '2026-11-22')),
    days: await Array.fromAsync(events.listDays(organization, '2026-11-21', '2026-11-22')),
    available: (await database.limiters.get(organization))?.avail,
  };
};

// The same passes without a database.
const eventsOf = (prices: InstancePrices, times: readonly number[]): GpuEvent[] => {
  let meter: GpuMeter | undefined;
  return times.flatMap((nowMs) => {
    const deployment = { id: 'dep_1', organization: 'org_1', name: 'qwen3-8b', ...(meter && { meter }) };
    const credit = { isPrepaid: false, shards: [] };
    const metered = meterPass({ deployment, running: trueAt(nowMs), nowMs, prices, credit });
    meter = metered.meter;
    return metered.events;
  });
};

const priceOfSecond = (prices: InstancePrices, type: string, ms: number): { version: string; hour_nanos: number } => {
  const inForce = (prices.get(type) ?? [])
    .filter(({ effective_at }) => effective_at <= ms)
    .sort((one, other) => one.effective_at - other.effective_at);
  return inForce.at(-1) as never;
};

const add = (sums: Map<string, bigint>, name: string, amount: bigint): void => void sums.set(name, (sums.get(name) ?? 0n) + amount);

// Each second of the day counts as the last pass saw it, and costs a 3,600th of an hour’s price. Costs are nano-dollars
// × 3,600, so that nothing is rounded.
const secondBySecond = (prices: InstancePrices, times: readonly number[]) => {
  const seconds = new Map<string, bigint>();
  const costs = new Map<string, bigint>();
  let next = 0;
  for (let ms = START; ms < END; ms += SECOND_MS) {
    while (Math.floor((times[next] ?? Number.POSITIVE_INFINITY) / SECOND_MS) * SECOND_MS <= ms) next++;
    const look = times[next - 1];
    if (look === undefined) continue;
    for (const { generation, instance_type, instances, phase } of trueAt(look)) {
      const { version, hour_nanos } = priceOfSecond(prices, instance_type, ms);
      const name = [new Date(ms).toISOString().slice(0, 10), generation, instance_type, phase, version].join(' ');
      add(seconds, name, BigInt(instances));
      add(costs, name, BigInt(instances) * BigInt(hour_nanos));
    }
  }
  return { seconds, costs };
};

// By the same names.
const sumsOf = (events: readonly GpuEvent[], amountOf: (event: GpuEvent) => bigint): Map<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const event of events) {
    const { started_at, generation, instance_type, phase, price_version } = event;
    add(
      sums,
      [new Date(started_at).toISOString().slice(0, 10), generation, instance_type, phase, price_version].join(' '),
      amountOf(event),
    );
  }
  return sums;
};

const instanceSeconds = ({ seconds, instances }: GpuEvent): bigint => BigInt(seconds) * BigInt(instances);
const total = (sums: Map<string, bigint>): bigint => [...sums.values()].reduce((sum, amount) => sum + amount, 0n);

test('equals a computation second by second, for a day with scaling, failure, sleep, stop and two prices', async () => {
  const times = passTimes(11);
  const { deployment, events, days, available } = await run(PRICES, times);
  const expected = secondBySecond(PRICES, times);
  expect(sumsOf(events, instanceSeconds)).toEqual(expected.seconds);
  expect(sumsOf(events, ({ cost_nanos }) => cost_nanos * 3_600n)).toEqual(expected.costs);
  expect(new Set(events.map(({ price_version, phase }) => `${price_version} ${phase}`))).toEqual(
    new Set(
      ['s1 starting', 's1 serving', 's1 draining', 's2 serving', 's2 draining', 'l1 starting', 'l1 draining'].map(
        (name) => `price_${name}`,
      ),
    ),
  );
  // A few events an hour, not one for each pass.
  expect(events.length).toBeLessThan(times.length / 10);
  // The sums by day are those of the events.
  expect(days.reduce((sum, day) => sum + day.instanceSeconds, 0n)).toBe(total(expected.seconds));
  expect(days.map(({ day, instanceType }) => [day, instanceType])).toEqual(
    [
      ['2026-11-21', SMALL],
      ['2026-11-21', LARGE],
      ['2026-11-22', SMALL],
    ].sort(),
  );
  // All of it is paid from credit, and nothing is held any more.
  const spent = events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
  expect(days.reduce((sum, day) => sum + day.prepaidNanos, 0n)).toBe(spent);
  expect(deployment.meter).toMatchObject({ running: [], held_nanos: 0n });
  expect(BigInt(available ?? 0)).toBe(CREDIT - spent);
});

test('differs from the true time by at most the time between two passes at each change', () => {
  const times = passTimes(12);
  const events = eventsOf(PRICES, times);
  let trueMs = 0;
  let boundMs = 0;
  for (const [i, [fromMs, running]] of TRUTH.entries()) {
    const count = (of: RunningInstances[]): number => of.reduce((sum, { instances }) => sum + instances, 0);
    trueMs += ((TRUTH[i + 1]?.[0] ?? 24 * HOUR_MS) - fromMs) * count(running);
    const changed = Math.abs(count(running) - count(TRUTH[i - 1]?.[1] ?? []));
    boundMs += changed * (MINUTE_MS + SECOND_MS);
  }
  const meteredMs = Number(events.reduce((sum, event) => sum + instanceSeconds(event), 0n)) * SECOND_MS;
  expect(Math.abs(meteredMs - trueMs)).toBeLessThanOrEqual(boundMs);
});

test('rounds the cost of each event once, half up, at any price', () => {
  const odd: InstancePrices = new Map([
    [
      SMALL,
      [1_410_000_001, 1_499_999_999].map((hour_nanos, i) => ({ version: `price_s${i + 1}`, effective_at: i * PRICE_CHANGE, hour_nanos })),
    ],
    [LARGE, [{ version: 'price_l1', effective_at: 0, hour_nanos: 5_757_575_757 }]],
  ]);
  const times = passTimes(13);
  const events = eventsOf(odd, times);
  expect(sumsOf(events, instanceSeconds)).toEqual(secondBySecond(odd, times).seconds);
  for (const event of events) {
    const { hour_nanos } = priceOfSecond(odd, event.instance_type, event.started_at);
    const tenths = (BigInt(hour_nanos) * instanceSeconds(event) * 10n) / 3_600n;
    expect(event.cost_nanos).toBe((tenths + 5n) / 10n);
  }
});
