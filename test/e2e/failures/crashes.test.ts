import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import type { LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardId } from '../../../shared/admission/item/shards.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import type { LoggedWrite } from '../../support/faults/write-log.ts';
import { type Caller, createEveryKindOfKey } from '../../support/fixtures/every-kind-of-key.ts';
import { sweepNow } from '../../support/fixtures/sweep-now.ts';
import { sized } from '../../support/sized.ts';

const KILLS = sized(40, 300);
// Most kills end a process before it has replied.
const LEAST_CUTS = sized(2, 20);
const CALLERS = 14;
const ENVIRONMENTS = '6';
const MAX_MS = 240_000;
const SWEPT_AFTER_MS = 12 * MINUTE_MS;
const GRANTED = 1_000_000_000n;
// A process that dies while it starts is restarted after ever longer delays.
const MIN_UPTIME_MS = 300;

// Shares of all calls, together about a tenth. Many more would use up the SDK's retry budget.
const FAULTS = { throttled: 0.01, conflicted: 0.02, failed: 0.01, failedAfter: 0.02, lostRequest: 0.015, lostReply: 0.03, slow: 0.000_5 };

// Of several calls to the model.
const EMBEDDINGS = { model: 'sluice-tiny-embed', input: Array(200).fill('Hello') };
const EMBEDDING_EVERY = 7;

let database: TestDatabase;
let proxy: FaultProxy;
let run: TestRun;
const random = seededRandom(20_261_121);
beforeAll(async () => {
  database = await startTestDatabase();
  proxy = await startFaultProxy(database.url, {
    random,
    keysTable: database.tables.Keys as string,
    usageTable: database.tables.Usage as string,
  });
  process.env.DYNAMODB_ENDPOINT = proxy.url;
  try {
    run = await startTestRun('--environments', ENVIRONMENTS);
  } finally {
    delete process.env.DYNAMODB_ENDPOINT;
  }
});
afterAll(async () => {
  await run.close();
  await proxy.close();
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const ending = async (caller: Caller, number: number): Promise<number | 'cut'> => {
  const headers = {
    authorization: `Bearer ${caller.secret}`,
    'content-type': 'application/json',
    ...(number % 5 === 0 && { 'idempotency-key': `${number}` }),
  };
  const messages = [{ role: 'user', content: 'Hello' }];
  const chat = { model: run.model, messages, stream: number % 2 === 0, max_tokens: 6, temperature: 1, seed: number };
  const isEmbedding = number % EMBEDDING_EVERY === 0;
  const [path, request] = isEmbedding ? ['embeddings', EMBEDDINGS] : ['chat/completions', chat];
  try {
    const response = await fetch(`${run.base_url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(request) });
    const text = await response.text();
    return response.status === 200 && number % 2 === 0 && !isEmbedding && !text.includes('[DONE]') ? 'cut' : response.status;
  } catch {
    return 'cut';
  }
};

const kill = (pid: number): boolean => {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
};

const runUnderLoad = async (callers: readonly Caller[]): Promise<{ endings: (number | 'cut')[]; kills: number }> => {
  const endings: (number | 'cut')[] = [];
  const until = performance.now() + MAX_MS;
  let kills = 0;
  let cuts = 0;
  let number = 0;
  const isOver = (): boolean => (kills >= KILLS && cuts > LEAST_CUTS) || performance.now() > until;
  const call = async (): Promise<void> => {
    while (!isOver()) {
      const end = await ending(callers[Math.floor(random() * callers.length)] as Caller, number++);
      endings.push(end);
      if (end === 'cut') cuts++;
      // No process was up. An immediate retry would only delay the start of the next one.
      if (end === 503) await delay(50);
    }
  };
  const killer = async (): Promise<void> => {
    const seenAt = new Map<number, number>();
    while (!isOver()) {
      await delay(random() * 400);
      const pids = (await run.facts()).pids.functions.inference ?? [];
      for (const pid of pids) if (!seenAt.has(pid)) seenAt.set(pid, performance.now());
      const grown = pids.filter((pid) => performance.now() - (seenAt.get(pid) ?? 0) > MIN_UPTIME_MS);
      const pid = grown[Math.floor(random() * grown.length)];
      if (pid !== undefined && kill(pid)) kills++;
    }
  };
  await Promise.all([killer(), ...Array.from({ length: CALLERS }, call)]);
  return { endings, kills };
};

// Computed from the log of writes and the requests in flight before the sweep.
const expectedEvents = (
  writes: readonly LoggedWrite[],
  keyLimiters: ReadonlyMap<string, Caller>,
  items: readonly LimiterItem[],
): Map<string, string> => {
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
  const inFlight = (item: LimiterItem): string[] => Object.keys(item.fl);
  const organizations = new Set(items.filter(({ id }) => id.startsWith('org_')).flatMap(inFlight));
  // Admitted by its key alone before its function crashed: it never became a request.
  for (const item of items.filter(({ id }) => keyLimiters.has(id)))
    for (const [id, entry] of Object.entries(item.fl)) if (entry[4] === 1 && !organizations.has(id) && !done.has(id)) expected.delete(id);
  return expected;
};

const eventsOf = async (limiterIds: Iterable<string>): Promise<UsageEvent[]> => {
  const events: UsageEvent[] = [];
  for (const id of limiterIds)
    for (const at of [Date.now() - 20 * MINUTE_MS, Date.now() - 10 * MINUTE_MS, Date.now()])
      for await (const event of database.usage.listByBucket(id, at)) events.push(event);
  return events;
};

test(
  `the sweep leaves one event per request and exact balances after ${KILLS} kills and database faults`,
  async () => {
    const { database: stored, limiters, tables } = database;
    const callers = await createEveryKindOfKey({ database: stored, limiters, accountsTable: tables.Accounts as string }, GRANTED);
    const keyLimiters = new Map(
      callers.flatMap((caller) => Array.from({ length: caller.shards }, (_, i) => [shardId(caller.keyId, i), caller] as const)),
    );
    await run.control('container', { token_delay_ms: 2 });
    proxy.faults = FAULTS;
    const { endings, kills } = await runUnderLoad(callers);
    proxy.faults = {};
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(proxy.seen).toMatchObject({ unknown: 0 });
    for (const fault of ['throttled', 'conflicted', 'failed', 'failedAfter', 'lostRequest', 'lostReply'] as const)
      expect(proxy.seen[fault]).toBeGreaterThan(0);

    // Each caller got its whole reply, an error, or a broken connection.
    expect(endings.filter((end) => ![200, 409, 429, 503, 'cut'].includes(end))).toEqual([]);
    expect(endings.filter((end) => end === 200).length).toBeGreaterThan(sized(25, 200));
    expect(endings.filter((end) => end === 'cut').length).toBeGreaterThan(LEAST_CUTS);

    // Wait for work in the background, such as retried settlements, to end.
    const storedItems = async (): Promise<LimiterItem[]> => {
      const organizations = [...new Set(callers.map(({ organization }) => organization))];
      const reads = [...[...keyLimiters.keys()].map(database.limiters.get), ...organizations.map(database.limiters.whole)];
      return (await Promise.all(reads)).filter((item) => item !== undefined);
    };
    for (let quiet = 0, before = -1; quiet < 3; ) {
      await delay(500);
      const now = proxy.writes().length;
      quiet = now === before ? quiet + 1 : 0;
      before = now;
    }
    const expected = expectedEvents(proxy.writes(), keyLimiters, await storedItems());
    const sweepAt = (nowMs: number) =>
      sweepNow({
        limiters: database.limiters,
        usage: database.usage,
        now: () => nowMs,
        maxInFlightMs: SWEPT_AFTER_MS - MINUTE_MS,
        hasTime: () => true,
        database: database.database,
      });
    expect(await sweepAt(Date.now() + SWEPT_AFTER_MS)).toMatchObject({ complete: true });
    expect(await sweepAt(Date.now() + SWEPT_AFTER_MS + 5 * MINUTE_MS)).toMatchObject({ released: 0, orphaned: 0, undone: 0 });

    const events = await eventsOf(keyLimiters.keys());
    expect(new Map(events.map(({ request_id, key_id }) => [request_id, key_id]))).toEqual(expected);
    expect(events).toHaveLength(expected.size);
    expect(events.filter(({ outcome }) => outcome === 'orphaned').length).toBeGreaterThan(sized(1, 10));
    expect(events.filter(({ outcome }) => outcome === 'completed').length).toBeGreaterThanOrEqual(
      endings.filter((end) => end === 200).length,
    );

    const items = await storedItems();
    for (const item of items) expect({ id: item.id, inFlight: item.fl }).toEqual({ id: item.id, inFlight: {} });
    const costOf = (of: (event: UsageEvent) => boolean): bigint => events.filter(of).reduce((sum, event) => sum + event.cost_nanos, 0n);
    const counted = (of: (item: LimiterItem) => boolean, counter: (item: LimiterItem) => unknown): bigint =>
      items.filter(of).reduce((sum, item) => sum + BigInt((counter(item) as bigint) ?? 0), 0n);
    const month = Object.keys(items[0] ?? {}).find((name) => /^m\d+$/.test(name)) as `m${number}`;
    for (const { keyId, organization } of callers) {
      const cost = costOf(({ key_id }) => key_id === keyId);
      expect(
        counted(
          ({ id }) => ownerIdOf(id) === keyId,
          ({ spent }) => spent,
        ),
      ).toBe(cost);
      expect(
        counted(
          ({ id }) => ownerIdOf(id) === keyId,
          (item) => item[month],
        ),
      ).toBe(cost);
      const own = items.find(({ id }) => id === organization);
      if (!own) continue;
      const all = costOf(({ org_id }) => org_id === organization);
      expect(BigInt(own.spent ?? 0)).toBe(all);
      expect(BigInt(own.avail ?? 0)).toBe(GRANTED - all);
    }
  },
  MAX_MS + 60_000,
);
