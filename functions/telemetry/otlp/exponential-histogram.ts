import type { HistogramPoint } from './wire.ts';

// 32 buckets an octave: a bucket's middle is within 1.1 % of its values.
const MAX_SCALE = 5;
// As in OpenTelemetry's SDKs. If the values need more buckets, neighbours are merged until they fit.
const MAX_BUCKETS = 160;

type Buckets = Pick<HistogramPoint, 'count' | 'sum' | 'min' | 'max' | 'scale' | 'zeroCount' | 'positive'>;

// Bucket i has the values above 2^(i / 32), up to and including 2^((i + 1) / 32).
const indexOf = (value: number): number => Math.ceil(Math.log2(value) * 2 ** MAX_SCALE) - 1;

/**
 * An exponential histogram of these values
 * (https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram).
 * @param values at least one, none negative
 */
export const exponentialHistogram = (values: readonly number[]): Buckets => {
  const indexes = values.filter((value) => value > 0).map(indexOf);
  const [lowest, highest] = indexes.reduce(([low, high], index) => [Math.min(low, index), Math.max(high, index)], [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ] as [number, number]);
  let merged = 0;
  while ((highest >> merged) - (lowest >> merged) >= MAX_BUCKETS) merged++;
  const offset = indexes.length > 0 ? lowest >> merged : 0;
  const counts = new Array<number>(indexes.length > 0 ? (highest >> merged) - offset + 1 : 0).fill(0);
  for (const index of indexes) counts[(index >> merged) - offset] = (counts[(index >> merged) - offset] as number) + 1;
  return {
    count: String(values.length),
    sum: values.reduce((sum, value) => sum + value, 0),
    min: values.reduce((a, b) => Math.min(a, b)),
    max: values.reduce((a, b) => Math.max(a, b)),
    scale: MAX_SCALE - merged,
    zeroCount: String(values.length - indexes.length),
    positive: { offset, bucketCounts: counts.map(String) },
  };
};
