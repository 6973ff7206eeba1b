import { AWS_LIMITS } from '../../../infra/tools/capacity/aws-limits.ts';
import { MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';

export type Kind = 'writes' | 'reads';

/** Units a second. */
export type Units = Record<Kind, number>;

// Why DynamoDB throttled: one item alone uses its partition up, several items that share a partition do, or the table
// is at the account's quota.
type Reason = 'item' | 'partition' | 'quota';
export type ThrottleCause = `${Reason} ${Kind}`;

interface Partition {
  /** The first hash of the partition; the next one's is its end. */
  from: number;
  left: Units;
  filledMs: number;
  /** Since when it has been throttled again and again. */
  hotSinceMs: number | undefined;
  lastThrottledMs: number;
  /** Units by key, since `countedMs`. */
  byKey: Map<string, number>;
  countedMs: number;
}

const HASHES = 2 ** 32;
// An item that alone uses this part of a partition's units is the reason for its throttles.
const ALONE = 0.9;

const FULL: Units = { writes: AWS_LIMITS.partitionWrites.value, reads: AWS_LIMITS.partitionReads.value };
const QUOTA: Units = { writes: AWS_LIMITS.tableWrites.value, reads: AWS_LIMITS.tableReads.value };
const SPLIT_AFTER_MS = AWS_LIMITS.splitMinutes.value * MINUTE_MS;

/** The units that a new table or index serves. */
export const NEW_TABLE: Units = { writes: AWS_LIMITS.newTableWrites.value, reads: AWS_LIMITS.newTableReads.value };

// Any good mixture does: what DynamoDB uses is not known (FNV-1a, finished as in MurmurHash3).
const hashOf = (key: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

const newPartition = (from: number, nowMs: number): Partition => ({
  from,
  left: { ...FULL },
  filledMs: nowMs,
  hotSinceMs: undefined,
  lastThrottledMs: Number.NEGATIVE_INFINITY,
  byKey: new Map(),
  countedMs: nowMs,
});

/**
 * The throughput of an on-demand table or index. It has as many partitions of equal ranges as its warm throughput
 * needs, each with 1,000 write and 3,000 read units a second, and the account's quota for the whole. A partition that
 * is throttled for long is split between its keys.
 */
export const createThroughput = (now: () => number, warm: Units = NEW_TABLE, quota: Units = QUOTA) => {
  const count = Math.max(1, Math.ceil(warm.writes / FULL.writes), Math.ceil(warm.reads / FULL.reads));
  const partitions = Array.from({ length: count }, (_, i) => newPartition(Math.floor((i * HASHES) / count), now()));
  const whole = { left: { ...quota }, filledMs: now() };
  const hashes = new Map<string, number>();
  const used: Units = { writes: 0, reads: 0 };
  const throttles = new Map<ThrottleCause, number>();
  let first: { cause: ThrottleCause; atMs: number } | undefined;

  const hashed = (key: string): number => {
    const known = hashes.get(key);
    if (known !== undefined) return known;
    const hash = hashOf(key);
    hashes.set(key, hash);
    return hash;
  };

  const partitionOf = (key: string): Partition => {
    const hash = hashed(key);
    let [low, high] = [0, partitions.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((partitions[middle] as Partition).from <= hash) low = middle;
      else high = middle - 1;
    }
    return partitions[low] as Partition;
  };

  const refill = (bucket: { left: Units; filledMs: number }, full: Units): void => {
    const elapsed = (now() - bucket.filledMs) / SECOND_MS;
    bucket.filledMs = now();
    for (const kind of ['writes', 'reads'] as const) bucket.left[kind] = Math.min(full[kind], bucket.left[kind] + elapsed * full[kind]);
  };

  // Between the keys, so that both halves have about the same load. An item alone can't be split.
  const split = (partition: Partition): void => {
    const keys = [...partition.byKey].toSorted(([one], [other]) => hashed(one) - hashed(other));
    const total = keys.reduce((sum, [, units]) => sum + units, 0);
    let below = 0;
    for (const [i, [, units]] of keys.entries()) {
      below += units;
      const next = keys[i + 1];
      if (!next || (below < total / 2 && i + 2 < keys.length)) continue;
      partitions.splice(partitions.indexOf(partition) + 1, 0, newPartition(hashed(next[0]), now()));
      return;
    }
  };

  const throttle = (what: Reason, kind: Kind): false => {
    const cause: ThrottleCause = `${what} ${kind}`;
    throttles.set(cause, (throttles.get(cause) ?? 0) + 1);
    first ??= { cause, atMs: now() };
    return false;
  };

  const heat = (partition: Partition): void => {
    if (now() - partition.lastThrottledMs > SECOND_MS) partition.hotSinceMs = now();
    partition.lastThrottledMs = now();
    if (partition.hotSinceMs === undefined || now() - partition.hotSinceMs < SPLIT_AFTER_MS) return;
    split(partition);
    partition.hotSinceMs = undefined;
  };

  return {
    /** Uses units for an item with this partition key. @returns false: throttled, and nothing is used */
    use: (key: string, kind: Kind, units: number): boolean => {
      refill(whole, quota);
      if (whole.left[kind] <= 0) return throttle('quota', kind);
      const partition = partitionOf(key);
      refill(partition, FULL);
      if (now() - partition.countedMs >= SECOND_MS) {
        partition.byKey.clear();
        partition.countedMs = now();
      }
      const ofKey = partition.byKey.get(key) ?? 0;
      if (partition.left[kind] <= 0) {
        const sum = [...partition.byKey.values()].reduce((total, one) => total + one, 0);
        heat(partition);
        return throttle(ofKey >= ALONE * sum ? 'item' : 'partition', kind);
      }
      partition.byKey.set(key, ofKey + units);
      partition.left[kind] -= units;
      whole.left[kind] -= units;
      used[kind] += units;
      return true;
    },
    partitions: (): number => partitions.length,
    used: (): Units => ({ ...used }),
    throttles: (): ReadonlyMap<ThrottleCause, number> => throttles,
    firstThrottle: () => first,
  };
};

export type Throughput = ReturnType<typeof createThroughput>;
