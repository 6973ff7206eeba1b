import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { userHashOf } from '../../../functions/inference/admission/user.ts';
import { LocalFacts } from '../../../infra/local/local-facts.ts';
import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import { entriesOf, type LimiterItem, moneyCountersAt } from '../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardId } from '../../../shared/admission/item/shards.ts';
import { userLimiterId } from '../../../shared/admission/item/user-limiter.ts';
import { reservationsOf } from '../../../shared/admission/stores/reservation.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { TestDatabase } from '../emulators/database.ts';
import type { Caller } from '../fixtures/every-kind-of-key.ts';
import { sweepNow } from '../fixtures/sweep-now.ts';
import type { FaultProxy } from './fault-proxy.ts';
import type { LoggedWrite } from './write-log.ts';

const SWEPT_AFTER_MS = 12 * MINUTE_MS;
const QUIET_MS = 500;
const QUIET_TIMES = 3;

/** Kills a process; false if it has ended before. */
export const killProcess = (pid: number): boolean => {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
};

/** Kills every process of a function of a local run that is there now. @returns their number */
export const killFunction = (state: string, name: string): number => {
  const facts: unknown = JSON.parse(readFileSync(path.join(state, 'local.json'), 'utf8'));
  return (LocalFacts.parse(facts).pids.functions[name] ?? []).filter(killProcess).length;
};

// The requests of these keys were sent to functions that were killed.
interface Crashes {
  database: TestDatabase;
  proxy: FaultProxy;
  callers: readonly Caller[];
  /** The nano-dollars of credit that each prepaid organization was granted. */
  granted: bigint;
}

// Work in the background, such as settlements that are tried again, can outlast the replies.
const untilQuiet = async ({ proxy }: Crashes): Promise<void> => {
  for (let quiet = 0, before = -1; quiet < QUIET_TIMES; ) {
    await delay(QUIET_MS);
    const now = proxy.writes().length;
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
};

const limiterIdsOf = ({ callers }: Crashes): Map<string, Caller> =>
  new Map(callers.flatMap((caller) => Array.from({ length: caller.shards }, (_, i) => [shardId(caller.keyId, i), caller] as const)));

interface Items {
  keys: KeyItem[];
  /** The items of the end users, projects and organizations that have admitted a request. */
  owners: ReadonlyMap<string, LimiterItem>;
}

const readItems = async ({ database, proxy }: Crashes, keyLimiters: ReadonlyMap<string, Caller>): Promise<Items> => {
  const limiterIds = proxy.writes().flatMap((write) => (write.kind === 'event' || keyLimiters.has(write.limiterId) ? [] : write.limiterId));
  const ids = [...new Set(limiterIds.map(ownerIdOf))];
  const keys = await Promise.all([...keyLimiters.keys()].map(database.limiters.get));
  const owners = await Promise.all(ids.map(async (id) => [id, (await database.limiters.whole(id)) as LimiterItem] as const));
  return { keys: keys.filter((item) => item !== undefined) as KeyItem[], owners: new Map(owners) };
};

// Computed from the log of writes and the requests in flight before the sweep.
const expectedEvents = async (
  writes: readonly LoggedWrite[],
  keyLimiters: ReadonlyMap<string, Caller>,
  { keys, owners }: Items,
): Promise<Map<string, string>> => {
  const expected = new Map<string, string>();
  const done = new Set<string>();
  const undone = new Set<string>();
  for (const write of writes) {
    if (write.kind === 'event') done.add(String(write.item.request_id?.S));
    else if (write.kind === 'undone') undone.add(write.requestId);
    else if (keyLimiters.has(write.limiterId)) {
      if (write.kind === 'admitted') expected.set(write.requestId, ownerIdOf(write.limiterId));
      // The event is written before the release.
      else expect(done.has(write.requestId)).toBe(true);
    }
  }
  for (const id of undone) {
    expect(done.has(id)).toBe(false);
    expected.delete(id);
  }
  // Admitted by its key, but not by all others, before its function crashed: it never became a request.
  for (const key of keys)
    for (const [id, entry] of entriesOf(key)) {
      const { isComplete } = await reservationsOf(key, id, entry, async (owner) =>
        [owners.get(owner)].filter((item) => item !== undefined),
      );
      if (!isComplete && !done.has(id)) expected.delete(id);
    }
  return expected;
};

const eventsOf = async ({ database }: Crashes, limiterIds: Iterable<string>): Promise<UsageEvent[]> => {
  const events: UsageEvent[] = [];
  for (const id of limiterIds)
    for (const at of [Date.now() - 20 * MINUTE_MS, Date.now() - 10 * MINUTE_MS, Date.now()])
      for await (const event of database.usage.listByBucket(id, at)) events.push(event);
  return events;
};

const sweepAt = ({ database: { limiters, usage, database } }: Crashes, nowMs: number) =>
  sweepNow({ limiters, usage, database, now: () => nowMs, maxInFlightMs: SWEPT_AFTER_MS - MINUTE_MS, hasTime: () => true });

// Each limiter has counted what the events of its requests cost.
const expectExactMoney = ({ callers, granted }: Crashes, { keys, owners }: Items, events: readonly UsageEvent[]): void => {
  const { month } = moneyCountersAt(Date.now());
  const costOf = (of: (event: UsageEvent) => boolean): bigint => events.filter(of).reduce((sum, event) => sum + event.cost_nanos, 0n);
  const countedBy = (items: readonly LimiterItem[]): bigint[] =>
    (['spent', month] as const).map((counter) => items.reduce((sum, item) => sum + BigInt(item[counter] ?? 0), 0n));
  for (const { keyId } of callers) {
    const cost = costOf(({ key_id }) => key_id === keyId);
    expect(countedBy(keys.filter(({ id }) => ownerIdOf(id) === keyId))).toEqual([cost, cost]);
  }
  for (const [id, item] of owners) {
    const cost = costOf(
      ({ org_id, project_id, key_id, user }) =>
        id === org_id || id === project_id || (user !== undefined && id === userLimiterId(key_id, userHashOf(key_id, user))),
    );
    expect({ id, counted: countedBy([item]) }).toEqual({ id, counted: [cost, cost] });
    if (item.prepaid) expect(BigInt(item.avail ?? 0)).toBe(granted - cost);
  }
};

/**
 * Sweeps after crashes, and expects that each admitted request then has exactly one event, that no limiter holds
 * anything, and that each has counted what the events cost, to the nano-dollar.
 * @returns the events of all requests
 */
export const settleCrashes = async (crashes: Crashes): Promise<UsageEvent[]> => {
  const keyLimiters = limiterIdsOf(crashes);
  await untilQuiet(crashes);
  const expected = await expectedEvents(crashes.proxy.writes(), keyLimiters, await readItems(crashes, keyLimiters));
  expect(await sweepAt(crashes, Date.now() + SWEPT_AFTER_MS)).toMatchObject({ complete: true });
  const again = await sweepAt(crashes, Date.now() + SWEPT_AFTER_MS + 5 * MINUTE_MS);
  expect(again).toMatchObject({ released: 0, orphaned: 0, undone: 0 });

  const events = await eventsOf(crashes, keyLimiters.keys());
  expect(new Map(events.map(({ request_id, key_id }) => [request_id, key_id]))).toEqual(expected);
  expect(events).toHaveLength(expected.size);
  const items = await readItems(crashes, keyLimiters);
  for (const { id, fl } of [...items.keys, ...items.owners.values()]) expect({ id, inFlight: fl }).toEqual({ id, inFlight: {} });
  expectExactMoney(crashes, items, events);
  return events;
};
