import { type Benchmark, isUnattended } from '../../shared/deployments/benchmark.ts';
import type { BenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import { logError } from '../../shared/logging/log.ts';

interface ResumeDependencies {
  benchmarks: Pick<BenchmarkStore, 'find'>;
  /** Invokes the function `benchmark` for a deployment. */
  invoke: (deployment: string) => Promise<void>;
  now: () => number;
}

/**
 * Starts the function `benchmark` for a deployment whose benchmark no function runs: it has just been created, or the
 * function that ran it had no time left or died. Never throws: the pass of the next minute tries again.
 * @returns the benchmark as it was read
 */
export const resumeBenchmark = async ({ benchmarks, invoke, now }: ResumeDependencies, id: string): Promise<Benchmark | undefined> => {
  try {
    const benchmark = await benchmarks.find(id);
    if (benchmark && isUnattended(benchmark, now())) await invoke(id);
    return benchmark;
  } catch (error) {
    logError('benchmark_not_resumed', error, { deployment: id });
    return undefined;
  }
};
