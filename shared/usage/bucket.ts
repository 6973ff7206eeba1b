import { ownerIdOf } from '../admission/item/shards.ts';
import { prefixes } from '../ids/id.ts';
import { DAY_MS } from '../time/units.ts';
import { dayOf } from '../time/utc.ts';
import { BUCKET_MS } from './usage-store.ts';

/** Ten minutes of a key or one of its shards: the events in one partition of the `usage` table. */
export interface Bucket {
  shard: string;
  /** Milliseconds since the epoch; a multiple of ten minutes. */
  startMs: number;
}

/** A UTC day of a key, such as `2026-11-21`. */
export interface KeyDay {
  keyId: string;
  day: string;
}

const FORM = /^(.+)#(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z)$/;

/**
 * Returns the bucket of an event's partition key.
 * @throws Error if it is not the key of an event, which is our own bug
 */
export const bucketOfKey = (usageBucket: string): Bucket => {
  const [, shard, start = ''] = FORM.exec(usageBucket) ?? [];
  const startMs = Date.parse(start);
  if (shard === undefined || !(startMs % BUCKET_MS === 0)) throw new Error(`'${usageBucket}' is not the partition of an event.`);
  return { shard, startMs };
};

/** Returns true if a partition of the table `usage` has events of a key. */
export const isBucketKey = (usageBucket: string): boolean => usageBucket.startsWith(prefixes.key) && FORM.test(usageBucket);

/** Returns the day in which a bucket is counted. */
export const keyDayOf = ({ shard, startMs }: Bucket): KeyDay => ({ keyId: ownerIdOf(shard), day: dayOf(startMs) });

/**
 * The start times of all ten-minute buckets of a day, including future ones, so that the result does not depend on a
 * clock.
 */
export const bucketStarts = (day: string): number[] =>
  Array.from({ length: DAY_MS / BUCKET_MS }, (_, i) => Date.parse(day) + i * BUCKET_MS);
