import { rebuild } from '../../infra/tools/admin/rebuild/rebuild-totals.ts';
import type { LimiterItem } from '../../shared/admission/item/limiter-item.ts';
import { dayOf } from '../../shared/time/utc.ts';
import { bucketOfKey, isBucketKey } from '../../shared/usage/bucket.ts';
import { UsageEvent } from '../../shared/usage/event.ts';
import type { TestRun } from '../support/clients/local-run.ts';
import { eventually } from '../support/eventually.ts';
import type { Caller } from '../support/fixtures/every-kind-of-key.ts';
import { rollupStores } from '../support/fixtures/rollups.ts';

const costOf = (events: readonly UsageEvent[]): bigint => events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);

const faultsOf = (id: string, item: LimiterItem | undefined, events: readonly UsageEvent[], granted: bigint): string[] => {
  if (!item) return [`${id} has no limiter`];
  const inFlight = Object.keys(item.fl);
  const [spent, cost] = [BigInt(item.spent ?? 0), costOf(events)];
  return [
    ...(inFlight.length > 0 ? [`${id} has ${inFlight.length} requests in flight`] : []),
    ...(spent === cost ? [] : [`${id} has spent ${spent}, but its events cost ${cost}`]),
    ...(item.prepaid && BigInt(item.avail ?? 0) !== granted - cost
      ? [`${id} has ${item.avail} left of ${granted}, and spent ${cost}`]
      : []),
  ];
};

const MAX_PAGES = 100;

const nameOf = (shard: string, startMs: number): string => `${shard} ${startMs}`;

// The events of the whole table by bucket, from one scan. Each of a key's 144 buckets of a day would be a query.
const readBuckets = async ({ database, tables }: TestRun) => {
  const buckets = new Map<string, UsageEvent[]>();
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const input = { TableName: tables.Usage as string, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) };
    const { Items = [], LastEvaluatedKey } = await database.scan(input);
    for (const item of Items.filter(({ usage_bucket: key }) => isBucketKey(String(key)))) {
      const { shard, startMs } = bucketOfKey(String(item.usage_bucket));
      const name = nameOf(shard, startMs);
      buckets.set(name, [...(buckets.get(name) ?? []), UsageEvent.parse(item)]);
    }
    if (!LastEvaluatedKey) return buckets;
    ExclusiveStartKey = LastEvaluatedKey;
  }
  throw new Error(`The table of events has more than ${MAX_PAGES} pages.`);
};

// Totals follow the events.
const totalsFaults = async (run: TestRun, callers: readonly Caller[], events: number): Promise<string[]> => {
  const stores = rollupStores(run.database, run.tables.Usage as string);
  const day = dayOf(Date.now());
  const yesterday = dayOf(Date.now() - 86_400_000);
  const counted = async (): Promise<number> => {
    let sum = 0;
    for (const { keyId } of callers) for await (const { totals } of stores.rollups.listDays(keyId, yesterday, day)) sum += totals.events;
    return sum;
  };
  await eventually(async () => (await counted()) === events, 'the totals have all events');
  const keys = callers.map(({ keyId, shards, organization }) => ({ id: keyId, shards, organization }));
  const buckets = await readBuckets(run);
  const listByBucket = async function* (shard: string, startMs: number) {
    yield* buckets.get(nameOf(shard, startMs)) ?? [];
  };
  const { drift, organizations } = await rebuild({ ...stores, usage: { ...stores.usage, listByBucket } }, day, keys, Date.now);
  const rows = drift.rows + organizations.drift.rows;
  return rows === 0 ? [] : [`${rows} rows of totals differ from the events`];
};

/**
 * Compares the counters of keys and organizations, and the totals of the day, with the usage events.
 * @param granted the credit of each prepaid organization
 * @param requests how many events the callers should have together
 * @returns what is wrong
 */
export const ledgerFaults = async (
  run: TestRun,
  callers: readonly Caller[],
  { granted, requests }: { granted: bigint; requests: number },
): Promise<string[]> => {
  const events = (await Promise.all(callers.map(({ keyId }) => run.eventsOf(keyId)))).flat();
  const faults = events.length === requests ? [] : [`${events.length} events for ${requests} requests`];
  for (const { keyId } of callers) {
    const own = events.filter(({ key_id }) => key_id === keyId);
    faults.push(...faultsOf(keyId, await run.limiters.whole(keyId), own, granted));
  }
  for (const organization of new Set(callers.map((caller) => caller.organization))) {
    const item = await run.limiters.whole(organization);
    const own = events.filter(({ org_id }) => org_id === organization);
    // An organization without limits has no limiter.
    if (item) faults.push(...faultsOf(organization, item, own, granted));
  }
  return faults.length > 0 ? faults : totalsFaults(run, callers, events.length);
};
