import { keyIdOf } from '../admission/shards.ts';
import { BUCKET_MS } from './usage-store.ts';

/** Ten minutes of a key, or of one shard of it: the events of one partition of the table `usage`. */
export interface Bucket {
  shard: string;
  /** Milliseconds since the epoch; a multiple of ten minutes. */
  startMs: number;
}

/** A key's day: UTC, `2026-11-21`. */
export interface KeyDay {
  keyId: string;
  day: string;
}

const DAY_MS = 24 * 60 * 60_000;

const FORM = /^(.+)#(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z)$/;

/**
 * The bucket of an event, from the partition key that it is stored under.
 * @throws Error when that is no event's key: a mistake of ours
 */
export const bucketOfKey = (usageBucket: string): Bucket => {
  const [, shard, start = ''] = FORM.exec(usageBucket) ?? [];
  const startMs = Date.parse(start);
  if (shard === undefined || !(startMs % BUCKET_MS === 0)) throw new Error(`'${usageBucket}' is not the partition of an event.`);
  return { shard, startMs };
};

/** The UTC day that holds an instant. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The UTC time of day, `16:40`. */
export const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

/** The day that a bucket is counted in. */
export const keyDayOf = ({ shard, startMs }: Bucket): KeyDay => ({ keyId: keyIdOf(shard), day: dayOf(startMs) });

/** The starts of the ten minutes of a day, also of those that are still to come: no clock decides what is looked at. */
export const bucketStarts = (day: string): number[] =>
  Array.from({ length: DAY_MS / BUCKET_MS }, (_, i) => Date.parse(day) + i * BUCKET_MS);
