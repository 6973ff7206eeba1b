import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { toSetLimiter } from '../../../../functions/control/organizations/organization-limiter.ts';
import type { Admission } from '../../../../functions/inference/admission/admit.ts';
import { settle } from '../../../../functions/inference/pipeline/settle-request.ts';
import { type KeyItem, projectOf } from '../../../../shared/admission/item/key-item.ts';
import { countedNanosAt, type LimiterItem, PERIODS } from '../../../../shared/admission/item/limiter-item.ts';
import type { Limits } from '../../../../shared/admission/item/limits.ts';
import { ownerIdOf } from '../../../../shared/admission/item/shards.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { newRequestId, requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { costNanos, type Price } from '../../../../shared/prices/price.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../../support/fixtures/callers.ts';
import { eventOf } from '../../../support/fixtures/completed-event.ts';
import { limitOrganization, limitProject } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sized } from '../../../support/sized.ts';

type Budgets = Limits['budgets'];

const RUNS = sized(10, 80);
// Fixed, so that a failure can be repeated.
const SEED = 20_261_126;
const STEPS = 16;
// Close to midnight at the end of a month, so that the day and the month change during the test.
const START = Date.UTC(2026, 10, 30, 23, 52);
const MAX_TOKENS = 400;
const NANOS_PER_TOKEN = 1_000_000;
const NO_LIMIT = Number.POSITIVE_INFINITY;

const BUDGETS = [
  { day: 5_000n, month: 8_000n },
  { month: 6_000n, total: 11_000n },
] as const;
const ORGANIZATION_MONTH = 15_000n;

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

// The keys 0 and 1 begin in the first project, 2 in the second, 3 in none. `project` 2 is none.
const request = fc.record({ key: fc.nat(3), caller: fc.nat(2), tokens: fc.integer({ min: 0, max: MAX_TOKENS }) });
const change = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), key: fc.nat(3), project: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('budget' as const), project: fc.nat(1), percent: fc.integer({ min: 30, max: 170 }) }),
  },
);
const step = fc.record({
  /** Sent at once, while others are settled and the change is made. */
  requests: fc.array(request, { maxLength: 12 }),
  settled: fc.array(fc.record({ which: fc.nat(40), share: fc.integer({ min: 0, max: 100 }) }), { maxLength: 6 }),
  change,
  waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 * MINUTE_MS })),
  /** Nano-dollars per token from now on. */
  price: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 4 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Sent {
  admission: Admission;
  /** The project in which it was admitted, by the image of its key. */
  project: string | undefined;
  price: Price;
  /** The amount held for it, or its cost if it has ended. */
  nanos: bigint;
  hasEnded: boolean;
}

const priceOf = (nanosPerToken: number, effective_at: number): Price => {
  const nanos = nanosPerToken * NANOS_PER_TOKEN;
  return { version: `price_${effective_at}`, effective_at, prompt_nanos: nanos, completion_nanos: nanos };
};
const costOf = (price: Price, tokens: number): bigint => costNanos(price, { promptTokens: tokens, completionTokens: 0 });

const createWorld = async () => {
  const { limiters, usage } = database;
  const org = newId('organization');
  const projects = [newId('project'), newId('project')] as const;
  const fields = { org };
  const keys = [
    await makeKey(limiters, { ...fields, project_id: projects[0] }),
    await makeKey(limiters, { ...fields, project_id: projects[0] }),
    await makeKey(limiters, { ...fields, project_id: projects[1] }),
    await makeKey(limiters, fields),
  ] as const;
  await limitOrganization(limiters, org, { budgets: { month: ORGANIZATION_MONTH } }, START);
  const budgets = new Map<string, Budgets>([[org, { month: ORGANIZATION_MONTH }]]);
  for (const [i, project] of projects.entries()) {
    await limitProject(limiters, project, org, BUDGETS[i] as Budgets);
    budgets.set(project, BUDGETS[i] as Budgets);
  }
  let now = START;
  let price = priceOf(2, START);
  const callers = [0, 1, 2].map(() => makeCaller(limiters, () => now));
  const placed: (string | undefined)[] = [projects[0], projects[0], projects[1], undefined];
  const sent: Sent[] = [];

  /** An independent sum of all requests for a limiter, in the periods of now. */
  const countedBy = (owner: string): Record<(typeof PERIODS)[number], bigint> => {
    const own = sent.filter(({ project }) => owner === org || project === owner);
    const sumOf = (of: (day: string) => boolean): bigint =>
      own.filter(({ admission }) => of(dayOf(requestTimeMs(admission.requestId)))).reduce((sum, { nanos }) => sum + nanos, 0n);
    const today = dayOf(now);
    return { day: sumOf((day) => day === today), month: sumOf((day) => day.slice(0, 7) === today.slice(0, 7)), total: sumOf(() => true) };
  };

  const send = async ({ key, caller, tokens }: Step['requests'][number]): Promise<void> => {
    const [at, ofPrice] = [now, price];
    const nanos = costOf(ofPrice, tokens);
    const result = await attempt(
      callers[caller] as (typeof callers)[number],
      keys[key] as (typeof keys)[number],
      1,
      newRequestId(at),
      nanos,
    );
    if (!isAdmitted(result)) {
      expect(result).toBeInstanceOf(ApiError);
      expect(result).toMatchObject({ status: 429 });
      return;
    }
    const [own, ...others] = result.reservations;
    const project = projectOf(own?.item as KeyItem);
    // The limiters that hold it are those of the project that its event names, and of the organization.
    expect(others.map(({ limiterId }) => ownerIdOf(limiterId))).toEqual([...(project === undefined ? [] : [project]), org]);
    sent.push({ admission: result, project, price: ofPrice, nanos, hasEnded: false });
  };

  const end = async (one: Sent, share: number): Promise<void> => {
    if (one.hasEnded) return;
    one.hasEnded = true;
    const tokens = Math.floor((Number(one.nanos) * share) / 100 / Number(costOf(one.price, 1)));
    const cost = costOf(one.price, tokens);
    const { admission, project } = one;
    const event: UsageEvent = { ...eventOf(admission, { tokens, costNanos: cost }), ...(project !== undefined && { project_id: project }) };
    await settle({ usage, keys: callers[0] as (typeof callers)[number] }, admission, event);
    one.nanos = cost;
  };

  const make = async (next: NonNullable<Step['change']>): Promise<void> => {
    if (next.kind === 'move') {
      const project = projects[next.project];
      await limiters.configure((keys[next.key] as (typeof keys)[number]).keyId, project ? { prj: project } : {}, project ? [] : ['prj']);
      placed[next.key] = project;
      return;
    }
    const project = projects[next.project] as string;
    const own: Budgets = BUDGETS[next.project] as Budgets;
    const scaled: Budgets = Object.fromEntries(
      Object.entries(own).map(([period, nanos]) => [period, (nanos * BigInt(next.percent)) / 100n]),
    );
    const limits = { requestsPerMinute: NO_LIMIT, tokensPerMinute: NO_LIMIT, concurrency: NO_LIMIT, isPrepaid: false };
    const settings = {
      status: 'active' as const,
      organization: org,
      limits: { ...limits, budgets: scaled },
    };
    const { writes } = await toSetLimiter(limiters, project, settings, 'limits', now);
    await limiters.writeAll(writes);
    budgets.set(project, scaled);
  };

  /** Checks every limiter against the sum of the requests. @param before what was counted, and which budgets applied */
  const check = async (before: ReadonlyMap<string, { counted: ReturnType<typeof countedBy>; budgets: Budgets }>): Promise<void> => {
    for (const [owner, after] of budgets) {
      const item = (await limiters.whole(owner)) as LimiterItem;
      const counted = countedNanosAt(item, now);
      const sums = countedBy(owner);
      const was = before.get(owner);
      for (const period of PERIODS) {
        expect({ owner, period, nanos: counted[period] }).toEqual({ owner, period, nanos: sums[period] });
        const limits = [after[period], was?.budgets[period]].filter((limit) => limit !== undefined);
        if (limits.length === 0) continue;
        const most = [...limits, was?.counted[period] ?? 0n].reduce((a, b) => (a > b ? a : b));
        expect(counted[period] <= most).toBe(true);
      }
    }
  };

  const run = async (next: Step): Promise<void> => {
    now += next.waitMs;
    if (next.price !== undefined) price = priceOf(next.price, now);
    const before = new Map([...budgets].map(([owner, own]) => [owner, { counted: countedBy(owner), budgets: own }]));
    const already = sent.length;
    const open = sent.filter(({ hasEnded }) => !hasEnded);
    const ending = next.settled.flatMap(({ which, share }) => (open[which] ? [{ one: open[which], share }] : []));
    // A budget of a busy limiter is changed by optimistic locking, which the control plane repeats.
    const isBudget = next.change?.kind === 'budget';
    if (next.change && isBudget) await make(next.change);
    const homes = [...placed];
    await Promise.all([
      ...next.requests.map(send),
      ...ending.map(({ one, share }) => end(one, share)),
      ...(next.change && !isBudget ? [make(next.change)] : []),
    ]);
    for (const { admission, project } of sent.slice(already)) {
      const key = keys.findIndex(({ keyId }) => keyId === admission.keyId);
      expect([homes[key], placed[key]]).toContain(project);
    }
    await check(before);
  };

  /** The rest of a project's budget is admitted to the last nano-dollar, and not one more. */
  const useWhole = async (): Promise<void> => {
    for (const one of sent) await end(one, 100);
    price = priceOf(1, now);
    // Callers that know of no refusal, which each remembers for some seconds.
    const [first, second] = [callers.push(makeCaller(limiters, () => now)) - 1, callers.push(makeCaller(limiters, () => now)) - 1];
    for (const [i, project] of projects.entries()) {
      const key = [0, 2][i] as 0 | 2;
      await make({ kind: 'move', key, project: i });
      const [own, shared] = [countedBy(project), countedBy(org)];
      const rests = PERIODS.flatMap((period) => {
        const limit = budgets.get(project)?.[period];
        return limit === undefined ? [] : [limit - own[period]];
      });
      const rest = [...rests, ORGANIZATION_MONTH - shared.month].reduce((a, b) => (a < b ? a : b));
      if (rest <= 0n) continue;
      const before = sent.length;
      await send({ key, caller: first, tokens: Number(rest) + 1 });
      expect(sent).toHaveLength(before);
      await send({ key, caller: second, tokens: Number(rest) });
      expect(sent).toHaveLength(before + 1);
    }
    for (const one of sent) await end(one, 100);
    await check(new Map([...budgets].map(([owner, own]) => [owner, { counted: countedBy(owner), budgets: own }])));
  };

  /** The events of each project add up to what its limiter has counted in all. */
  const checkEvents = async (): Promise<void> => {
    const sums = new Map<string | undefined, bigint>();
    const shards = await Promise.all(keys.map(async ({ keyId }) => ({ keyId, item: (await limiters.get(keyId)) as LimiterItem })));
    for (const { keyId } of shards)
      for (let at = START; at <= now + 10 * MINUTE_MS; at += 10 * MINUTE_MS)
        for await (const event of usage.listByBucket(keyId, at))
          sums.set(event.project_id, (sums.get(event.project_id) ?? 0n) + event.cost_nanos);
    for (const project of projects) {
      const item = await limiters.whole(project);
      expect({ project, nanos: BigInt(item?.spent ?? 0), fl: item?.fl }).toEqual({ project, nanos: sums.get(project) ?? 0n, fl: {} });
    }
    const all = [...sums.values()].reduce((sum, nanos) => sum + nanos, 0n);
    expect(BigInt((await limiters.whole(org))?.spent ?? 0)).toBe(all);
  };
  return { run, useWhole, checkEvents, admitted: () => sent.length };
};

test(`${RUNS} × ${STEPS} concurrent steps of two projects never exceed a budget by a nano-dollar`, async () => {
  let admitted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS }), async (steps) => {
      const world = await createWorld();
      for (const next of steps) await world.run(next);
      await world.useWhole();
      await world.checkEvents();
      admitted += world.admitted();
    }),
    { numRuns: RUNS, endOnFailure: true, seed: SEED },
  );
  expect(admitted).toBeGreaterThan(RUNS * STEPS);
});
