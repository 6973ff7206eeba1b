import { median } from '../bench/lib/statistics.ts';
import { residentMiB } from '../support/resident-memory.ts';
import { type Fault, faultIf } from './faults.ts';

const SAMPLE_MS = 250;
// In the first part of a load, heaps and caches grow to their size.
const WARM_UP = 0.3;
// The growth of resident memory between the middle and the last third of a load.
const MAX_GROWTH_MIB = 48;
// Below this number of requests, the fitted slope only shows how the heap breathes.
const MIN_FITTED_REQUESTS = 20_000;
const MAX_SLOPE_MIB = 24;
const SLOPE_REQUESTS = 100_000;

/** The resident memory of a function when it, and all others, had served this many requests. */
export interface Sample {
  requests: number;
  mib: number;
}
export type Memory = ReadonlyMap<string, readonly Sample[]>;

/**
 * Samples the resident memory of processes until it is stopped. Without /proc, on systems other than Linux, there are
 * no samples.
 */
export const watchMemory = (functions: Readonly<Record<string, readonly number[]>>, requests: () => number) => {
  const memory = new Map<string, Sample[]>(Object.keys(functions).map((name) => [name, []]));
  const sample = (): void => {
    for (const [name, pids] of Object.entries(functions)) {
      const mib = pids.reduce((sum, pid) => sum + residentMiB(pid).now, 0);
      memory.get(name)?.push({ requests: requests(), mib });
    }
  };
  const timer = process.platform === 'linux' ? setInterval(sample, SAMPLE_MS) : undefined;
  return {
    latestMib: (name: string): number => memory.get(name)?.at(-1)?.mib ?? Number.NaN,
    stop: (): Memory => {
      clearInterval(timer);
      return memory;
    },
  };
};

/** The slope of the least-squares line through the samples after the warm-up: MiB per 100,000 requests. */
export const slopeOf = (samples: readonly Sample[]): number => {
  const last = samples.at(-1)?.requests ?? 0;
  const warm = samples.filter(({ requests }) => requests >= last * WARM_UP);
  const mean = (of: (sample: Sample) => number): number => warm.reduce((sum, sample) => sum + of(sample), 0) / warm.length;
  const [meanRequests, meanMib] = [mean(({ requests }) => requests), mean(({ mib }) => mib)];
  const covariance = mean(({ requests, mib }) => (requests - meanRequests) * (mib - meanMib));
  return (covariance / mean(({ requests }) => (requests - meanRequests) ** 2)) * SLOPE_REQUESTS;
};

/** There were enough requests for the slope to mean something. */
export const isFitted = (samples: readonly Sample[]): boolean => (samples.at(-1)?.requests ?? 0) >= MIN_FITTED_REQUESTS;

/** The resident memory at each tenth of the requests, of the highest number of samples that a tenth has. */
export const atTenths = (samples: readonly Sample[]): Sample[] => {
  const last = samples.at(-1)?.requests ?? 0;
  return Array.from({ length: 10 }, (_, i) => samples.find(({ requests }) => requests >= (last * (i + 1)) / 10)).filter(
    (sample) => sample !== undefined,
  );
};

/** By how much the median of the last third of the requests is above that of the middle third, in MiB. */
export const growthOf = (samples: readonly Sample[]): number => {
  const last = samples.at(-1)?.requests ?? 0;
  const third = (number: number): number[] =>
    samples.filter(({ requests }) => Math.min(2, Math.floor((requests * 3) / last)) === number).map(({ mib }) => mib);
  return median(third(2)) - median(third(1));
};

/** Functions whose memory is not flat. */
export const memoryFaults = (memory: Memory): Fault[] =>
  [...memory].flatMap(([name, samples]) => {
    const [growth, slope] = [growthOf(samples), slopeOf(samples)];
    return [
      ...faultIf(growth > MAX_GROWTH_MIB, 'growing', `${name}: ${growth.toFixed(1)} MiB more in the last third than in the middle one`),
      ...faultIf(isFitted(samples) && slope > MAX_SLOPE_MIB, 'growing', `${name}: ${slope.toFixed(1)} MiB per ${SLOPE_REQUESTS} requests`),
    ];
  });
