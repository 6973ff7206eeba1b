import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, admit } from '../../../functions/inference/admission/admit.ts';
import { userHashOf } from '../../../functions/inference/admission/user.ts';
import { settle } from '../../../functions/inference/pipeline/settle-request.ts';
import { entryOf, type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import { nextToSplit, shardId } from '../../../shared/admission/item/shards.ts';
import { epochOf } from '../../../shared/admission/item/sweep-epoch.ts';
import { userLimiterId } from '../../../shared/admission/item/user-limiter.ts';
import { planSplit } from '../../../shared/admission/plans/split-shard.ts';
import type { LimiterCache } from '../../../shared/admission/stores/limiter-cache.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { type CrashPoint, crashingStores, WRITES } from '../../support/faults/crashing-stores.ts';
import { Crash } from '../../support/faults/unreliable-database.ts';
import { forgetfulCache, makeKey } from '../../support/fixtures/callers.ts';
import { eventOf } from '../../support/fixtures/completed-event.ts';
import { limitOrganization, limitProject } from '../../support/fixtures/limit-organization.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { sweepNow } from '../../support/fixtures/sweep-now.ts';
import { sized } from '../../support/sized.ts';
import { createReference, type Reference } from './reference.ts';

const RUNS = sized(5, 24);
const SPLITTING_RUNS = sized(3, 14);
// Fixed, so that a failure can be repeated.
const SEED = 20_261_121;
const OPERATIONS = 60;
const MAX_IN_FLIGHT_MS = 11 * MINUTE_MS;
// Close to midnight at the end of a month, so that the day and the month change during the test.
const START = Date.UTC(2026, 10, 30, 23, 40);
const CREDIT = 3_000n;
// A part of the tokens of so many shards is enough for each request.
const MAX_SHARDS = 4;

const USER_LIMITS = { requests: 6, tokens: 260, concurrency: 3, month: 800n };
const USERS = ['ann', 'bob'];
const PROJECT_LIMITS = { month: 1_500n, day: 1_200n };
const UNLIMITED = Number.POSITIVE_INFINITY;

const KEY_LIMITS = { requests: 9, tokens: 400, concurrency: 4, day: 900n, total: 1_600n };
const PLAIN_LIMITS = { requests: 12, tokens: 500, concurrency: 5 };
const ORGANIZATION_LIMITS = { requests: 14, tokens: 700, concurrency: 7, month: 2_200n, isPrepaid: true };

const hasEntry = (item: LimiterItem | undefined, requestId: string): boolean =>
  item !== undefined && entryOf(item, requestId) !== undefined;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});

const crash = fc.option(
  fc.record<CrashPoint>({ write: fc.constantFrom(...WRITES), when: fc.constantFrom('before' as const, 'after' as const) }),
  { nil: undefined, freq: 2 },
);
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      caller: fc.nat(2),
      key: fc.nat(2),
      user: fc.nat(1),
      tokens: fc.integer({ min: 1, max: 150 }),
      holdNanos: fc.bigInt({ min: 0n, max: 300n }),
      crash,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(10),
      tokens: fc.integer({ min: 0, max: 150 }),
      share: fc.integer({ min: 0, max: 100 }),
      times: fc.integer({ min: 1, max: 3 }),
      crash,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 70_000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const), afterMs: fc.constantFrom(0, MAX_IN_FLIGHT_MS + MINUTE_MS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('grant' as const) }) },
);

interface Sent {
  id: string;
  key: number;
  user: number;
  holdNanos: bigint;
  /** Set if all limiters admitted the request, unless the function crashed. */
  admission?: Admission;
  admittedAtMs: number;
  costNanos?: bigint;
  tokensUsed?: number;
}

const splitting = fc.oneof(
  { weight: 14, arbitrary: operation },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('split' as const), crash }) },
);

test.each([
  [RUNS, 'one limiter item', operation, false],
  [SPLITTING_RUNS, 'shards that are split meanwhile, and money that moves between them', splitting, false],
  [RUNS, 'end users and a project with limits', operation, true],
])(`%i × ${OPERATIONS} random operations of an organization with %s match a reference model`, async (numRuns, _, kinds, hasChain) => {
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { minLength: OPERATIONS, maxLength: OPERATIONS }), async (operations) => {
      const world = await createWorld(hasChain);
      for (const next of operations) await world[next.kind](next as never);
      await world.sweep({ afterMs: MAX_IN_FLIGHT_MS + MINUTE_MS });
      await world.check();
    }),
    { numRuns, endOnFailure: true, seed: SEED },
  );
});

const directedRequest = (key: number, fields: { tokens?: number; holdNanos?: bigint } = {}): Operation => ({
  kind: 'request',
  caller: 0,
  key,
  user: 0,
  tokens: 1,
  holdNanos: 0n,
  crash: undefined,
  ...fields,
});
const directedSettle: Operation = { kind: 'settle', which: 0, tokens: 50, share: 100, times: 2, crash: undefined };
// Six of seven requests at the same time; the others can go to either shard.
const IN_FLIGHT = 6;
const MORE = 12;
const directedSplit: Operation[] = [
  ...Array.from({ length: IN_FLIGHT }, (_, i) => directedRequest(i % 2)),
  { kind: 'split', crash: undefined },
  ...Array.from({ length: MORE }, (_, i) => directedRequest(i % 2)),
];

// Random operations rarely come in these orders.
test.each<{ name: string; shards: number; directed: readonly (Operation | Overtaking)[] }>([
  {
    name: 'a settlement after a sweep that crashed as soon as it had written the event',
    shards: 1,
    directed: [{ kind: 'grant' }, directedRequest(0, { tokens: 100, holdNanos: 300n }), { kind: 'overtake', which: 0 }, directedSettle],
  },
  { name: 'a split while almost as many requests are in flight as may be', shards: 2, directed: directedSplit },
])('$name matches the reference model', async ({ directed, shards }) => {
  const world = await createWorld(false);
  for (const next of directed) await world[next.kind](next as never);
  expect(await world.shards()).toBe(shards);
  await world.sweep({ afterMs: MAX_IN_FLIGHT_MS + MINUTE_MS });
  await world.check();
});

// `hasChain`: the first key has limits for each end user, and the first two keys are in a project with budgets.
const createWorld = async (hasChain: boolean) => {
  const { limiters, usage } = database;
  // Otherwise the sweep would continue from the end of the previous run.
  await limiters.markSwept(epochOf(START) - 1);
  const org = newId('organization');
  const limited = {
    org,
    requests_per_minute: KEY_LIMITS.requests,
    tokens_per_minute: KEY_LIMITS.tokens,
    concurrency: KEY_LIMITS.concurrency,
  };
  const plain = {
    requests_per_minute: PLAIN_LIMITS.requests,
    tokens_per_minute: PLAIN_LIMITS.tokens,
    concurrency: PLAIN_LIMITS.concurrency,
  };
  const project = newId('project');
  const inProject = hasChain ? { project_id: project } : {};
  const { requests: requestsPerMinute, tokens: tokensPerMinute, concurrency, month: monthlyBudgetNanos } = USER_LIMITS;
  const perUser = hasChain ? { per_user: { requestsPerMinute, tokensPerMinute, concurrency, monthlyBudgetNanos } } : {};
  const budgets = { day_budget_nanos: KEY_LIMITS.day, total_budget_nanos: KEY_LIMITS.total };
  const keys: PresentedKey[] = [
    await makeKey(limiters, { ...limited, ...budgets, ...inProject, ...perUser }),
    await makeKey(limiters, { ...plain, ...inProject, org }),
    await makeKey(limiters, { ...plain, org: newId('organization') }),
  ];
  await limitOrganization(limiters, org, {
    requestsPerMinute: ORGANIZATION_LIMITS.requests,
    tokensPerMinute: ORGANIZATION_LIMITS.tokens,
    concurrency: ORGANIZATION_LIMITS.concurrency,
    budgets: { month: ORGANIZATION_LIMITS.month },
    isPrepaid: true,
  });
  await limitProject(limiters, project, org, PROJECT_LIMITS);
  const references = [createReference(KEY_LIMITS), createReference(PLAIN_LIMITS), createReference(PLAIN_LIMITS)];
  const organization = createReference(ORGANIZATION_LIMITS);
  const ofProject = createReference({ requests: UNLIMITED, tokens: UNLIMITED, concurrency: UNLIMITED, ...PROJECT_LIMITS });
  const ofUsers = USERS.map(() => createReference(USER_LIMITS));
  const userId = (user: number): string => {
    const [{ keyId }] = keys as [PresentedKey];
    return userLimiterId(keyId, userHashOf(keyId, USERS[user] as string));
  };
  /** The limiters of a request, in the order of its admission, with their reference models. */
  const chainOf = ({ key, user }: { key: number; user: number }): { id: string; reference: Reference }[] => [
    { id: (keys[key] as PresentedKey).keyId, reference: references[key] as Reference },
    ...(hasChain && key === 0 ? [{ id: userId(user), reference: ofUsers[user] as Reference }] : []),
    ...(hasChain && key < 2 ? [{ id: project, reference: ofProject }] : []),
    ...(key < 2 ? [{ id: org, reference: organization }] : []),
  ];
  const caches: LimiterCache[] = [forgetfulCache(), forgetfulCache(), forgetfulCache()];
  let now = START;
  let isSplit = false;
  let grants = 0;
  const sent: Sent[] = [];
  const events = new Map<string, bigint>();

  /** Ends a request in the reference model. */
  const endInModel = (one: Sent, used: { tokens: number; costNanos: bigint } | 'undone'): void => {
    for (const { reference } of chainOf(one)) reference.end(one.id, one.admittedAtMs, now, used);
  };

  const sendRequest = async (next: Extract<Operation, { kind: 'request' }>): Promise<void> => {
    const { caller, key: index, user, tokens, holdNanos, crash: crashPoint } = next;
    const key = keys[index] as PresentedKey;
    const id = newRequestId(now);
    const request = { id, arrivedAtMs: now, tokens, holdNanos };
    const { store, hasCrashed } = crashingStores(limiters, usage, crashPoint);
    const chain = chainOf({ key: index, user });
    const [fitsKey, ...fitOthers] = chain.map(({ reference }) => reference.fits(request, now)) as [boolean, ...boolean[]];
    const fitsOthers = fitOthers.every(Boolean);
    const one: Sent = { id, key: index, user, holdNanos, admittedAtMs: now };
    let outcome: Admission | Error;
    try {
      const limits = { store, cache: caches[caller] as LimiterCache, now: () => now };
      outcome = await admit(limits, { key, model: 'm', requestId: id, tokens, maxCostNanos: () => holdNanos, user: USERS[user] });
    } catch (error) {
      outcome = error as Error;
    }
    if (!(outcome instanceof Error)) {
      expect(fitsKey && fitsOthers).toBe(true);
      for (const { reference } of chain) reference.admit(request, now);
      sent.push({ ...one, admission: outcome });
      return;
    }
    // A function that crashes while it undoes a reservation cannot report the rejection.
    if (outcome instanceof ApiError && !hasCrashed()) {
      expect(outcome.status).toBe(429);
      // Several shards can have room for a request together that none of them has alone, but money moves to where it
      // is needed.
      if (isSplit && fitsKey) {
        expect(fitsOthers && outcome.type === 'insufficient_quota').toBe(false);
        return;
      }
      expect(fitsKey && fitsOthers).toBe(false);
      return;
    }
    if (!hasCrashed()) throw outcome;
    // After a crash, the entries of the limiters show how far the request came.
    for (const [i, { id: limiterId, reference }] of chain.entries()) {
      if (!hasEntry(await limiters.whole(limiterId), id)) continue;
      expect(reference.fits(request, now)).toBe(true);
      reference.admit(request, now);
      if (i === 0) sent.push(one);
    }
  };

  const settleOne = async ({
    which,
    tokens: wanted,
    share,
    times,
    crash: crashPoint,
  }: Extract<Operation, { kind: 'settle' }>): Promise<void> => {
    const ready = sent.filter(({ admission }) => admission);
    const one = ready[which % Math.max(1, ready.length)];
    if (!one?.admission) return;
    const { admission } = one;
    delete one.admission;
    const costNanos = (one.holdNanos * BigInt(share)) / 100n;
    // Tokens beyond the reserved ones count in their own shard only, which is a documented bound of that limit.
    const tokens = isSplit ? Math.min(wanted, admission.reservations[0]?.entry.tokens ?? wanted) : wanted;
    const hadEvent = events.has(one.id);
    for (let time = 0; time < times; time++) {
      const stores = crashingStores(limiters, usage, time === 0 ? crashPoint : undefined);
      const deps = { usage: stores.usage, keys: { store: stores.store, cache: caches[0] as LimiterCache, now: () => now } };
      try {
        await settle(deps, admission, eventOf(admission, { tokens, costNanos }));
      } catch (error) {
        expect(error).toBeInstanceOf(Crash);
      }
    }
    const stored = await usage.get((keys[one.key] as PresentedKey).keyId, one.id);
    if (!stored) return;
    if (!hadEvent) expect(stored.cost_nanos).toBe(costNanos);
    events.set(one.id, stored.cost_nanos);
    const used = { tokens: stored.prompt_tokens + stored.completion_tokens, costNanos: stored.cost_nanos };
    one.costNanos = used.costNanos;
    one.tokensUsed = used.tokens;
    for (const { id, reference } of chainOf(one))
      if (!hasEntry(await limiters.whole(id), one.id)) reference.end(one.id, one.admittedAtMs, now, used);
  };

  /** Writes the event of a request as a sweep does, which then crashes. */
  const overtake = async ({ which }: Overtaking): Promise<void> => {
    const { id, admission } = sent[which] as Sent;
    if (!admission) throw new Error('The request was not admitted.');
    await usage.putIfAbsent(eventOf(admission, { tokens: 0, costNanos: 0n }), admission.shards);
    events.set(id, 0n);
  };

  const sweepAll = async ({ afterMs }: { afterMs: number }): Promise<void> => {
    now += afterMs;
    for (let run = 0; run < 2; run++)
      await sweepNow({
        limiters,
        usage,
        now: () => now,
        maxInFlightMs: MAX_IN_FLIGHT_MS,
        hasTime: () => true,
        database: database.database,
      });
    for (const one of sent) {
      if (now - one.admittedAtMs <= MAX_IN_FLIGHT_MS) continue;
      if (one.costNanos !== undefined) endInModel(one, { tokens: one.tokensUsed ?? 0, costNanos: one.costNanos });
      else if (!events.has(one.id) && chainOf(one).some(({ reference }) => !reference.inFlight().includes(one.id)))
        endInModel(one, 'undone');
      else {
        if (!events.has(one.id)) events.set(one.id, 0n);
        endInModel(one, { tokens: 0, costNanos: events.get(one.id) ?? 0n });
      }
    }
  };

  const grant = async (): Promise<void> => {
    grants++;
    await limiters.addGrant(org, grants, CREDIT);
    await limiters.addGrant(org, grants, CREDIT);
    organization.grant(CREDIT);
  };

  const checkLimiter = (item: LimiterItem | undefined, reference: Reference): void => {
    expect(Object.keys(item?.fl ?? {}).sort()).toEqual(reference.inFlight());
    expect(BigInt(item?.spent ?? 0)).toBe(reference.spentInAll());
    for (const [name, value] of Object.entries(item ?? {})) {
      if (/^d\d+$/.test(name)) expect(BigInt(value as number)).toBe(reference.spentIn(`day ${name.slice(1)}`));
      if (/^m\d+$/.test(name)) expect(BigInt(value as number)).toBe(reference.spentIn(`month ${name.slice(1, 5)}-${name.slice(5)}`));
    }
  };

  const check = async (): Promise<void> => {
    const items = await Promise.all(keys.map(({ keyId }) => limiters.get(keyId)));
    for (const [i, item] of items.entries()) checkLimiter(item, references[i] as Reference);
    if (hasChain) {
      checkLimiter(await limiters.whole(project), ofProject);
      for (const [user, reference] of ofUsers.entries()) checkLimiter(await limiters.get(userId(user)), reference);
    }
    const own = await limiters.whole(org);
    checkLimiter(own, organization);
    expect(BigInt(own?.avail ?? 0)).toBe(organization.credit());
    expect(organization.credit()).toBeGreaterThanOrEqual(0n);
    expect(Object.keys(own?.fl ?? {})).toEqual([]);
    const stored = new Map<string, bigint>();
    for (const { keyId } of keys)
      for (let at = START; at <= now; at += 10 * MINUTE_MS)
        for await (const event of usage.listByBucket(keyId, at)) stored.set(event.request_id, event.cost_nanos);
    expect(stored).toEqual(events);
    const costs = [...stored].filter(([id]) => sent.find((one) => one.id === id)?.key !== 2).map(([, cost]) => cost);
    expect(BigInt(own?.avail ?? 0)).toBe(BigInt(grants) * CREDIT - costs.reduce((sum, cost) => sum + cost, 0n));
  };

  /** Splits the next shard, while the parts are not too small for any request. */
  const split = async ({ crash: crashPoint }: { crash?: CrashPoint | undefined }): Promise<void> => {
    const before = await shards();
    const [next] = before < MAX_SHARDS ? nextToSplit(before, 1) : [];
    const parent = next === undefined ? undefined : await limiters.get(shardId(org, next));
    const plan = parent && planSplit(parent, shardId(org, before), now);
    if (!plan) return;
    const { store, hasCrashed } = crashingStores(limiters, usage, crashPoint && { ...crashPoint, write: 'split' });
    try {
      expect(await store.split(org, [plan], before)).toBe(true);
    } catch (error) {
      if (!hasCrashed()) throw error;
    }
    isSplit = (await shards()) > 1;
  };

  const shards = async (): Promise<number> => shardsOf((await limiters.get(org)) as LimiterItem);

  const wait = async ({ ms }: { ms: number }): Promise<void> => {
    now += ms;
  };
  return { request: sendRequest, settle: settleOne, sweep: sweepAll, grant, wait, split, shards, overtake, check };
};

type Operation = typeof splitting extends fc.Arbitrary<infer Value> ? Value : never;
interface Overtaking {
  kind: 'overtake';
  which: number;
}
