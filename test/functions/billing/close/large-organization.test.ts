import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type CloseDependencies, closeMonth } from '../../../../functions/billing/close/close-month.ts';
import { ReservedConcurrency } from '../../../../infra/config/config.ts';
import { closingsAtOnce } from '../../../../infra/constructs/queues/billing-tasks.ts';
import { newLimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { shardId, shardIds } from '../../../../shared/admission/item/shards.ts';
import { closableAt, endOfMonth, startOfMonth } from '../../../../shared/billing/month.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { HOUR_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, createClosing, MODEL } from '../../../support/fixtures/closing.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sized } from '../../../support/sized.ts';

let database: TestDatabase;
let bucket: TestBillingFiles;
let closing: Closing;

beforeAll(async () => {
  database = await startTestDatabase();
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});

const MONTH = '2026-10';
const [MONTH_MS, END_MS] = [startOfMonth(MONTH), endOfMonth(MONTH)];
// Those of a key with the default limits.
const SHARDS = 3;

// An organization of the largest size: most keys were never used, some for a job of an hour, and few of them all the
// time.
const KEYS = 10_000;
const JOB_KEYS = 2_000;
const BUSY_KEYS = 50;
// A busy key has 144 × 31 × 3 partitions of events, so with fifteen in each there are ten million of them.
type EventsAt = (startMs: number) => number;
const few: EventsAt = (startMs) => ((startMs / 600_000) % 30 === 0 ? 1 : 0);
const tenMillion: EventsAt = sized(few, () => 15);
const oneEach: EventsAt = sized(few, () => 1);
const MAX_QUERIES = 1_000_000;
const MAX_INVOCATIONS = 10;

// Measured CPU of `billing` for one query over TLS and for one event, and the time of an invocation.
const QUERY_MS = 0.3;
const EVENT_MS = 0.05;
const INVOCATION_MS = 840_000;

interface SimulatedKey {
  id: string;
  lastUsedMs: number | undefined;
  isBusy: boolean;
}

const keyOf = (i: number): SimulatedKey => {
  if (i < BUSY_KEYS) return { id: newTimedId('key', MONTH_MS - i), lastUsedMs: END_MS - 1, isBusy: true };
  const createdMs = MONTH_MS + ((i * 7_919_000) % (END_MS - MONTH_MS - HOUR_MS));
  return { id: newTimedId('key', createdMs), lastUsedMs: i < BUSY_KEYS + JOB_KEYS ? createdMs + HOUR_MS : undefined, isBusy: false };
};

// Reading counts queries and adds virtual time.
const simulate = (organization: string, keys: readonly SimulatedKey[], eventsAt: EventsAt) => {
  const items = new Map(
    keys.flatMap(({ id, lastUsedMs }) =>
      shardIds(id, SHARDS).map((each) => [
        each,
        { ...newLimiterItem(each, organization, { set: { shards: SHARDS } }), ...(lastUsedMs && { last_used: lastUsedMs }) },
      ]),
    ),
  );
  const busy = new Set(keys.filter(({ isBusy }) => isBusy).flatMap(({ id }) => shardIds(id, SHARDS)));
  const count = { queries: 0, events: 0, invocations: 0 };
  const spentMs = (): number => count.queries * QUERY_MS + count.events * EVENT_MS;
  const usage: CloseDependencies['usage'] = {
    listByBucket: async function* (shard, atMs) {
      count.queries++;
      if (!busy.has(shard)) return;
      for (let i = 0; i < eventsAt(atMs); i++) {
        count.events++;
        yield {
          request_id: newRequestId(atMs + i),
          key_id: shardId(shard, 0),
          org_id: organization,
          model: MODEL,
          prompt_tokens: 1,
          cached_tokens: 0,
          completion_tokens: 1,
          source: 'runtime',
          outcome: 'completed',
          finish_reason: 'stop',
          admitted_at: atMs + i,
          time_to_first_token_ms: null,
          duration_ms: 1,
          cost_nanos: 1_000n,
          price_version: 'price_1',
        };
      }
    },
  };
  const limiters: CloseDependencies['limiters'] = {
    get: async () => undefined,
    addGrant: async () => false,
    listByOrganization: async function* () {
      yield* items.keys();
    },
    getMany: async (ids) => {
      count.queries += Math.ceil(ids.length / 100);
      return ids.flatMap((id) => items.get(id) ?? []);
    },
  };
  const rollups: CloseDependencies['rollups'] = {
    // biome-ignore lint/correctness/useYield: no key lost its last use.
    listDays: async function* () {
      count.queries++;
    },
    // biome-ignore lint/correctness/useYield: no key has totals.
    listTenMinutes: async function* () {
      count.queries++;
    },
  };
  return { usage, limiters, rollups, count, spentMs };
};

const closeSimulated = async (keys: readonly SimulatedKey[], eventsAt: EventsAt) => {
  const organization = newId('organization');
  const { usage, limiters, rollups, count, spentMs } = simulate(organization, keys, eventsAt);
  const organizations: CloseDependencies['organizations'] = {
    getMany: async () => [{ id: organization, name: 'Large', createdAtMs: MONTH_MS }],
  };
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const startedMs = Date.now();
  while ((await closing.billedMonths.get(organization, MONTH)) === undefined) {
    if (count.invocations++ > MAX_INVOCATIONS) break;
    const endMs = spentMs() + INVOCATION_MS;
    const invocation = { usage, organizations, limiters, rollups, hasTime: () => spentMs() < endMs, now: () => closableAt(MONTH) };
    await closeMonth(closing.dependencies(invocation), { organization, month: MONTH });
  }
  jest.restoreAllMocks();
  const seconds = Math.round(spentMs() / 1_000);
  process.stderr.write(
    `${keys.length} keys, ${count.events} events: ${count.queries} queries, ${count.invocations} invocations, ${seconds} s in all (simulated in ${Date.now() - startedMs} ms).\n`,
  );
  expect((await closing.invoiceOf(organization, MONTH)).subtotal_nanos).toBe(BigInt(count.events) * 1_000n);
  return { ...count, ms: spentMs() };
};

test('closes a month of an organization with very many API keys in few queries and invocations', async () => {
  const { queries, invocations } = await closeSimulated(
    Array.from({ length: KEYS }, (_, i) => keyOf(i)),
    tenMillion,
  );
  expect(queries).toBeLessThanOrEqual(MAX_QUERIES);
  expect(invocations).toBeLessThanOrEqual(MAX_INVOCATIONS);
}, 1_800_000);

test('closes a thousand organizations with ten API keys that are always in use within an hour', async () => {
  const { queries, invocations, ms } = await closeSimulated(
    Array.from({ length: 10 }, (_, i) => keyOf(i)),
    oneEach,
  );
  expect(invocations).toBe(1);
  const atOnce = closingsAtOnce(ReservedConcurrency.parse({}).billing);
  const wholeMs = Math.ceil(1_000 / atOnce) * ms;
  process.stderr.write(`1,000 organizations: ${queries * 1_000} queries, ${atOnce} at once, ${Math.round(wholeMs / 60_000)} minutes.\n`);
  expect(wholeMs).toBeLessThan(HOUR_MS);
}, 1_800_000);
