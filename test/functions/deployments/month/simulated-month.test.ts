import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { type Advice, AdviceQuery, adviceFor } from '../../../../functions/control/deployments/advice/advice.ts';
import { DeploymentUpdate } from '../../../../functions/control/deployments/new-deployment.ts';
import { retryGeneration } from '../../../../functions/control/deployments/rollout.ts';
import { updateDeployment } from '../../../../functions/control/deployments/update-deployment.ts';
import { EconomicsQuery } from '../../../../functions/control/economics/economics-query.ts';
import { EconomicsList, type EconomicsRow } from '../../../../functions/control/economics/economics-resource.ts';
import { listEconomics } from '../../../../functions/control/economics/list-economics.ts';
import type { EconomicsDependencies } from '../../../../functions/control/economics/read-economics.ts';
import { type Deployment, inState } from '../../../../shared/deployments/deployment.ts';
import { awsNameOf } from '../../../../shared/deployments/names.ts';
import { type ScheduleWindow, windowTimes } from '../../../../shared/deployments/schedule.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { dollarsOf, nanosOf } from '../../../../shared/prices/dollars.ts';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { type ManagedDeployments, manageDeployments } from '../../../support/fixtures/managed-deployments.ts';
import { sized } from '../../../support/sized.ts';
import { usageStores } from '../../control/usage/usage-fixtures.ts';
import type { World } from '../world.ts';
import { officeHours, roundTheDay } from './arrivals.ts';
import { type Incident, type LivedMonth, liveThrough } from './lived-month.ts';
import { type DaySums, secondBySecond, totalOf } from './second-by-second.ts';

const at = (iso: string): number => Date.parse(iso);
const FROM = sized('2027-03-26', '2027-03-02');
const TO = sized('2027-03-30', '2027-04-01');
const RANGE = { fromMs: at(FROM), toMs: at(TO) };
const DAYS = (RANGE.toMs - RANGE.fromMs) / DAY_MS;
const NOW = RANGE.toMs + HOUR_MS;

// A second costs whole nano-dollars, so that no sum depends on where it is cut. Both change in the middle of a day and
// of a second, at different times.
const version = (effective_at: number, secondNanos: number): InstancePrice => ({
  version: `price_${effective_at}`,
  effective_at,
  hour_nanos: secondNanos * 3_600,
});
const CHARGES = [version(0, 391_111), version(at('2027-03-26T11:20:30.345Z'), 420_007)];
const COSTS = [version(0, 281_003), version(at('2027-03-29T08:34:56.789Z'), 299_999)];
const MOST_SECOND_NANOS = 420_007n;

const BERLIN = 'Europe/Berlin';
// The clocks in Berlin are put forward on 28 March, in the window of Sundays.
const SCHEDULE: ScheduleWindow[] = [
  { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', time_zone: BERLIN, min_copies: 1 },
  { days: ['sun'], from: '01:30', to: '03:30', time_zone: BERLIN, min_copies: 2 },
];

let database: TestDatabase;
let managed: ManagedDeployments;
let economics: EconomicsDependencies;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  managed = await manageDeployments(database);
  const { deps: stores } = usageStores(database);
  const catalogue = { ...managed.catalogue, prices: async () => CHARGES, costs: async () => new Map([['ml.g5.xlarge', COSTS]]) };
  managed.deps.catalogue = catalogue;
  economics = { ...stores, ...managed.deps } as EconomicsDependencies;
  admin = { ...managed.admin, origin: { ...managed.admin.origin, nowMs: NOW } };
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

// Somebody deletes the component while it serves, and then its endpoint.
const loseEndpoint = async ({ plane, read, deleteByHand }: World): Promise<void> => {
  expect((await read()).state).toBe('in_service');
  deleteByHand();
  plane.advance(SECOND_MS);
  deleteByHand();
};
// The next container that starts can't.
const breakImage = async ({ plane }: World): Promise<void> =>
  plane.account.configure({ ...plane.account.settings(), faults: [{ kind: 'image_pull', times: 1 }] });
const retry = (world: World): Promise<void> =>
  world.change((row) => {
    if (row.state !== 'failed') throw new Error(`It has not failed but is ${row.state}.`);
    return { ...inState(retryGeneration(row, world.plane.now()), 'pending', world.plane.now()), wanted: 'running' };
  });
const SETTINGS = {
  office: { scale_to_zero_after_seconds: 2_400 },
  windows: { scale_to_zero_after_seconds: 600, schedule: SCHEDULE, copies: { min: 1, max: 2 } },
  failing: { scale_to_zero_after_seconds: 1_200 },
} satisfies Record<string, Partial<Deployment>>;
type Name = keyof typeof SETTINGS;
interface Settings {
  scale_to_zero_after_seconds?: number | null | undefined;
  schedule?: readonly ScheduleWindow[] | undefined;
}
const PRESENT: Record<Name, Settings> = {
  office: { schedule: [], ...SETTINGS.office },
  windows: { schedule: SCHEDULE, scale_to_zero_after_seconds: SETTINGS.windows.scale_to_zero_after_seconds },
  failing: { schedule: [], ...SETTINGS.failing },
};
const NAMES = Object.keys(SETTINGS) as Name[];
const ARRIVALS = { office: officeHours(RANGE, 5), windows: roundTheDay(RANGE, 6), failing: roundTheDay(RANGE, 7) };

const callAfter = (iso: string): number => ARRIVALS.failing.find(({ atMs }) => atMs >= at(iso))?.atMs ?? 0;
const INCIDENTS: Incident[] = [
  { atMs: callAfter('2027-03-26T08:00Z') + 12 * MINUTE_MS, happen: loseEndpoint },
  { atMs: callAfter('2027-03-29T00:30Z') - MINUTE_MS, happen: breakImage },
  { atMs: callAfter('2027-03-29T00:30Z') + 45 * MINUTE_MS, happen: retry },
];

type Lived = LivedMonth & { organization: string; owner: Actor };
const live = async (name: Name, incidents: readonly Incident[]): Promise<Lived> => {
  const { organization, owner } = await managed.newTenant();
  const month = await liveThrough(database, {
    range: RANGE,
    fields: { organization, name, ...SETTINGS[name] },
    arrivals: ARRIVALS[name],
    incidents,
    prices: CHARGES,
  });
  return { ...month, organization, owner: { ...owner, origin: { ...owner.origin, nowMs: NOW } } };
};
const months = {} as Record<Name, Lived>;
beforeAll(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  for (const name of NAMES) months[name] = await live(name, name === 'failing' ? INCIDENTS : []);
}, 900_000);

const computed = new Map<LivedMonth, Map<string, DaySums>>();
const expectedOf = (lived: LivedMonth): Map<string, DaySums> => {
  const days = computed.get(lived) ?? secondBySecond(lived, RANGE, { charges: CHARGES, costs: COSTS });
  computed.set(lived, days);
  return days;
};
const economicsOf = async (actor: Actor, query: object): Promise<EconomicsRow[]> => {
  const reply = await listEconomics(economics, actor, validate(EconomicsQuery, { from: FROM, to: TO, ...query }));
  return EconomicsList.parse(JSON.parse(JSON.stringify(reply))).data;
};
const rowOf = (sums: DaySums) => ({
  instance_seconds: {
    total: Number(sums.waking + sums.busy + sums.idle + sums.draining),
    waking: Number(sums.waking),
    busy: Number(sums.busy),
    idle: Number(sums.idle),
    draining: Number(sums.draining),
  },
  awake_seconds: Number(sums.awakeSeconds),
  requests: Number(sums.requests),
  prompt_tokens: Number(sums.promptTokens),
  completion_tokens: Number(sums.completionTokens),
  cost: dollarsOf(sums.costNanos),
  revenue: {
    total: dollarsOf(sums.soldNanos + sums.chargeNanos),
    tokens: dollarsOf(sums.soldNanos),
    gpu_time: dollarsOf(sums.chargeNanos),
  },
  margin: dollarsOf(sums.soldNanos + sums.chargeNanos - sums.costNanos),
});

describe('the economics of a simulated month', () => {
  test.each(NAMES)('equal a computation second by second, each day and in total, to the nano-dollar: %s', async (name) => {
    const { world, organization } = months[name];
    const expected = expectedOf(months[name]);
    const days = await economicsOf(admin, { organization, deployment: world.id, group_by: 'day' });
    expect(days.map(({ from }) => from)).toEqual([...expected.keys()].sort());
    for (const day of days) expect(day).toMatchObject(rowOf(expected.get(day.from) as DaySums));
    const [total] = await economicsOf(admin, { organization, deployment: world.id });
    expect(total).toMatchObject(rowOf(totalOf(expected.values())));
  });

  test('have all phases, both prices, the windows with their copies, and the failures', async () => {
    for (const name of NAMES) {
      const { waking, busy, idle, draining } = totalOf(expectedOf(months[name]).values());
      for (const seconds of [waking, busy, idle, draining]) expect(seconds).toBeGreaterThan(0n);
    }
    const sunday = months.windows.looks.filter(({ atMs }) => atMs >= at('2027-03-28T00:30Z') && atMs < at('2027-03-28T01:30Z'));
    for (const { running } of sunday) expect(running).toMatchObject([{ instances: 2, phase: 'serving' }]);
    const { id, plane, read } = months.failing.world;
    expect(plane.account.proof().created[`endpoint/${awsNameOf('sluice', id, 1)}`]).toBe(2);
    expect((await read()).generations.map(({ number }) => number)).toEqual([2]);
  });
});

test('leaves out only passes that change nothing', async () => {
  const range = { fromMs: at('2027-03-28'), toMs: at('2027-03-28') + sized(3, 24) * HOUR_MS };
  const fields = { name: 'windows', ...SETTINGS.windows };
  const arrivals = ARRIVALS.windows.filter(({ atMs }) => atMs >= range.fromMs && atMs < range.toMs);
  const sumsOf = async (isSparse: boolean) => {
    const lived = await liveThrough(database, { range, fields, arrivals, prices: CHARGES }, isSparse);
    return { looks: lived.looks.length, sums: totalOf(secondBySecond(lived, range, { charges: CHARGES, costs: COSTS }).values()) };
  };
  const [sparse, all] = [await sumsOf(true), await sumsOf(false)];
  expect(sparse.sums).toEqual(all.sums);
  expect(sparse.looks).toBeLessThan(all.looks);
});

describe('the advice of a simulated month', () => {
  const adviceOf = (name: Name): Promise<Advice> =>
    adviceFor(managed.deps, months[name].owner, months[name].world.id, AdviceQuery.parse({ days: String(DAYS) }));

  // A start takes two minutes and a poll. It begins so long before a window, and a poll.
  const LONGEST_START_MS = 4 * MINUTE_MS;
  const LONGEST_LEAD_MS = 6 * MINUTE_MS;
  // Its idle time is over: a pass knows of the last request after 90 seconds, and finds it idle within another minute.
  const LATEST_SLEEP_MS = 4 * MINUTE_MS;

  // Calls while a pass decides if they cause a start: before a window, or when the deployment is about to sleep.
  const closeCalls = (name: Name, { scale_to_zero_after_seconds: idle, schedule = [] }: Settings): number => {
    const windows = windowTimes(schedule, RANGE.fromMs - DAY_MS, RANGE.toMs);
    const idleMs = (idle ?? Number.POSITIVE_INFINITY) * SECOND_MS;
    let lastUse = { leastMs: Number.NEGATIVE_INFINITY, mostMs: Number.NEGATIVE_INFINITY };
    let close = 0;
    for (const { atMs, serviceMs } of ARRIVALS[name]) {
      const windowEndMs = Math.max(...windows.flatMap(({ startMs, endMs }) => (startMs - LONGEST_LEAD_MS <= atMs ? [endMs] : [])), 0);
      const isBeforeWindow = windows.some(({ startMs }) => startMs - LONGEST_LEAD_MS <= atMs && atMs < startMs);
      const mayBeAsleep = atMs >= Math.max(lastUse.leastMs + idleMs, windowEndMs);
      const mayBeAwake = atMs < Math.max(lastUse.mostMs + idleMs, windowEndMs) + LATEST_SLEEP_MS;
      if (isBeforeWindow || (mayBeAsleep && mayBeAwake)) close++;
      const startMs = mayBeAsleep || isBeforeWindow ? LONGEST_START_MS : 0;
      lastUse = { leastMs: atMs + serviceMs, mostMs: Math.max(lastUse.mostMs, atMs + startMs + serviceMs) };
    }
    return close;
  };

  test.each(NAMES)('replays the present settings to the second and the nano-dollar: %s', async (name) => {
    const { waking, busy, idle, draining, chargeNanos, requests } = totalOf(expectedOf(months[name]).values());
    const metered = { instance_seconds: Number(waking + busy + idle + draining), cost: dollarsOf(chargeNanos) };
    const { coldStarts } = months[name];
    // Nobody called for the instances that replaced lost ones, nor for the retry.
    const ofOwner = name === 'failing' ? 2 : 0;
    const { present, ...advice } = await adviceOf(name);
    expect(advice).toMatchObject({ requests: Number(requests), metered });
    expect(present).toMatchObject(metered);
    expect(present?.cold_starts).toBeLessThanOrEqual(coldStarts + ofOwner);
    expect(present?.cold_starts).toBeGreaterThanOrEqual(coldStarts + ofOwner - closeCalls(name, PRESENT[name]));
  });

  // A pass can be a minute earlier or later at each start, sleep and release.
  const POLL_SECONDS = 61;
  const boundOf = (...lives: readonly LivedMonth[]): number =>
    Math.max(...lives.map(({ looks }) => looks.filter(({ running }, i) => running.length > 0 && !looks[i - 1]?.running.length).length)) *
    3 *
    POLL_SECONDS;
  const waitAt = ({ waitsMs }: LivedMonth, share: number): number => {
    const sorted = waitsMs.toSorted((one, other) => one - other);
    return (sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / SECOND_MS;
  };
  const isMatch = (one: object, fields: object): boolean =>
    Object.entries(fields).every(([field, value]) => isDeepStrictEqual(one[field as keyof typeof one], value));
  const isNear = (one: number, other: number, bound: number): boolean => Math.abs(one - other) <= bound;

  type Body = NonNullable<Advice['suggestion']>['apply']['body'];
  const bodies = {
    'its suggestion': ({ suggestion }: Advice): Body | undefined => suggestion?.apply.body,
    // The hours in which calls came.
    'proposed windows': ({ options }: Advice): Body | undefined => {
      const option = options.find(({ schedule }) => schedule.length > 0);
      return option && { scale_to_zero_after_seconds: option.scale_to_zero_after_seconds, schedule: option.schedule };
    },
  };

  type Choice = readonly [Name, keyof typeof bodies];
  const ofOffice: readonly Choice[] = [
    ['office', 'its suggestion'],
    ['office', 'proposed windows'],
  ];
  test.each(sized(ofOffice, [...ofOffice, ['windows', 'its suggestion']]))(
    'brings what it says, if the month of %s is lived again with %s',
    async (name, choice) => {
      const advice = await adviceOf(name);
      const body = bodies[choice](advice);
      if (!body) throw new Error('There is no such option.');
      const apply: Incident = {
        atMs: RANGE.fromMs - HOUR_MS,
        happen: async ({ id, read }) => {
          expect(await updateDeployment(managed.deps, managed.admin, { id }, DeploymentUpdate.parse(body))).toMatchObject(body);
          expect(await read()).toMatchObject(body);
        },
      };
      const applied = await live(name, [apply]);
      const [before, after] = [months[name], applied].map((lived) => totalOf(expectedOf(lived).values())) as [DaySums, DaySums];
      const bound = boundOf(months[name], applied);
      const boundNanos = Number(MOST_SECOND_NANOS) * bound;
      const settings: Settings = { ...PRESENT[name], ...body };
      const option = advice.options.find((each) => isMatch(each, settings));
      if (!option) throw new Error('It is not among the options.');
      const seconds = Number(after.waking + after.busy + after.idle + after.draining);
      expect([seconds, option.instance_seconds, isNear(seconds, option.instance_seconds, bound)]).toContain(true);
      const cost = Number(after.chargeNanos);
      expect([cost, option.cost, isNear(cost, Number(nanosOf(option.cost)), boundNanos)]).toContain(true);
      const close = closeCalls(name, settings);
      expect([option.cold_starts, applied.coldStarts, isNear(option.cold_starts, applied.coldStarts, close)]).toContain(true);
      for (const [share, wait] of [
        [0.5, option.wait_p50_seconds],
        [0.95, option.wait_p95_seconds],
      ] as const)
        expect([waitAt(applied, share), wait, isNear(waitAt(applied, share), wait, POLL_SECONDS)]).toContain(true);
      if (choice !== 'its suggestion' || !advice.suggestion) return;
      const { saved_per_month, cold_starts_per_month } = advice.suggestion;
      const savedNanos = Number(before.chargeNanos - after.chargeNanos);
      const promisedNanos = (Number(nanosOf(saved_per_month)) * DAYS) / 30;
      expect([savedNanos, promisedNanos, isNear(savedNanos, promisedNanos, boundNanos)]).toContain(true);
      expect(savedNanos).toBeGreaterThan(boundNanos);
      const more = Math.round(((applied.coldStarts - months[name].coldStarts) * 30) / DAYS);
      // Rounded once here, and once there.
      const most = ((close + closeCalls(name, PRESENT[name])) * 30) / DAYS + 1;
      expect([cold_starts_per_month, more, isNear(cold_starts_per_month, more, most)]).toContain(true);
    },
    900_000,
  );
});
