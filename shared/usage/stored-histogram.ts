import * as z from 'zod';
import { type Histogram, lastBucket, noLatencies, SCALE } from './histogram.ts';

// Integers are written seven bits at a time, the lowest first; the eighth bit says that more follow (LEB128).
const MORE = 0x80;
const MAX_INTEGER_BYTES = 8;
const EMPTY = 0;
// Histograms of earlier versions are maps of counts by bucket, at this scale.
const SCALE_OF_MAPS = 3;

const writeInteger = (bytes: number[], value: number): void => {
  let rest = value;
  for (; rest >= MORE; rest = Math.floor(rest / MORE)) bytes.push((rest % MORE) | MORE);
  bytes.push(rest);
};

/**
 * Encodes a histogram: a byte with its scale, then the counts of its buckets from the first one on. A 0 and a number
 * stand for that many empty buckets. Most buckets with latencies are side by side, so that a busy row needs a byte or
 * two for each.
 */
export const storedHistogram = ({ scale, counts }: Histogram): Uint8Array => {
  const bytes = [scale];
  let next = 0;
  for (const [bucket, times] of [...counts].sort(([a], [b]) => a - b)) {
    if (bucket > next) {
      bytes.push(EMPTY);
      writeInteger(bytes, bucket - next);
    }
    writeInteger(bytes, times);
    next = bucket + 1;
  }
  return Uint8Array.from(bytes);
};

// Undefined if the last integer is cut off, or one is too long.
const readIntegers = (bytes: Uint8Array): number[] | undefined => {
  const values: number[] = [];
  let [value, length] = [0, 0];
  for (const byte of bytes.subarray(1)) {
    value += (byte % MORE) * MORE ** length++;
    if (length > MAX_INTEGER_BYTES) return undefined;
    if (byte >= MORE) continue;
    values.push(value);
    [value, length] = [0, 0];
  }
  return length === 0 ? values : undefined;
};

const readHistogram = (bytes: Uint8Array): Histogram | undefined => {
  const [scale = -1] = bytes;
  const values = readIntegers(bytes);
  if (scale < 0 || scale > SCALE || !values) return undefined;
  const histogram: Histogram = { scale, counts: new Map() };
  let bucket = 0;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === EMPTY) {
      bucket += values[i + 1] || Number.NaN;
      i += 2;
    }
    const times = values[i];
    if (!times || !Number.isSafeInteger(times) || !(bucket <= lastBucket(scale))) return undefined;
    histogram.counts.set(bucket++, times);
  }
  return histogram;
};

const Binary = z.instanceof(Uint8Array).transform((bytes, context): Histogram => {
  const histogram = readHistogram(bytes);
  if (histogram) return histogram;
  context.addIssue('not the bytes of a histogram');
  return z.NEVER;
});

const CountsByBucket = z.record(z.string().regex(/^\d{1,3}$/), z.int().min(1)).transform((counts): Histogram => {
  const stored = Object.entries(counts).map(([bucket, times]) => [Number(bucket), times] as const);
  return stored.length === 0 ? noLatencies() : { scale: SCALE_OF_MAPS, counts: new Map(stored) };
});

/** A histogram at rest. */
export const StoredHistogram = z.union([Binary, CountsByBucket]);
