import * as z from 'zod';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import { Benchmark, BenchmarkCurve, MAX_CURVES } from './benchmark.ts';
import { DEPLOYMENT } from './deployment.ts';

const StoredBenchmark = ignoringUnknown(Benchmark);
const Curves = z.object({ version: z.int().min(1), curves: z.array(ignoringUnknown(BenchmarkCurve)).max(MAX_CURVES) });
const LatestOfOrganization = z.object({ version: z.int().min(1), deployment: z.string() });

/** The records of a deployment's newest benchmark, and of the curves of the last ones. */
export const BENCHMARK = 'benchmark';
export const CURVES = 'curves';

const benchmarkKeyOf = (deployment: string): RecordKey => ({ account: deployment, record: BENCHMARK });
const curvesKeyOf = (deployment: string): RecordKey => ({ account: deployment, record: CURVES });
// It names the deployment of the organization's last benchmark, so that two that start at the same time can't both run.
const latestKeyOf = (organization: string): RecordKey => ({ account: organization, record: BENCHMARK });

/** The curves that are kept of a deployment, oldest first, and the row's version; 0: there is none. */
export interface KeptCurves {
  version: number;
  curves: BenchmarkCurve[];
}

/**
 * Benchmarks in the table `deployments`: a deployment has a row for the newest one, and one for the curves of the last
 * ones. The only code that knows their keys.
 * @param table the records of that table
 */
export const createBenchmarkStore = (table: RecordTable) => {
  const find = async (deployment: string): Promise<Benchmark | undefined> => {
    const row = await table.get(benchmarkKeyOf(deployment));
    return row && StoredBenchmark.parse(row);
  };
  return {
    find,

    curves: async (deployment: string): Promise<KeptCurves> => {
      const row = await table.get(curvesKeyOf(deployment));
      return row ? Curves.parse(row) : { version: 0, curves: [] };
    },

    /**
     * The organization's last benchmark.
     * @returns it, and the write with which the next one of this deployment takes its place: 412 if another took it
     */
    latest: async (organization: string, deployment: string): Promise<{ benchmark: Benchmark | undefined; toFollow: Write }> => {
      const key = latestKeyOf(organization);
      const row = await table.get(key);
      if (!row) return { benchmark: undefined, toFollow: table.toCreate(key, { version: 1, deployment }, () => new PreconditionFailed()) };
      const latest = LatestOfOrganization.parse(row);
      return { benchmark: await find(latest.deployment), toFollow: table.toReplace(key, { version: latest.version, deployment }) };
    },

    /**
     * Writes a new benchmark over the one that was read, which has ended: 412 if another one came first, or the
     * deployment is not to run any more. A deletion removes what was written before it, and nothing comes after it.
     */
    toStart: (benchmark: Omit<Benchmark, 'version'>, before: Benchmark | undefined): Write[] => [
      table.toCheck({ account: benchmark.deployment, record: DEPLOYMENT }, { wanted: 'running' }, () => new PreconditionFailed()),
      table.toSave(benchmarkKeyOf(benchmark.deployment), { ...benchmark, version: before?.version ?? 0 }),
    ],

    /** Replaces the benchmark that was read: 412 if another write came first. */
    toReplace: (benchmark: Benchmark): Write => table.toReplace(benchmarkKeyOf(benchmark.deployment), benchmark),

    /** Adds a curve to those that were read, and drops the oldest: 412 if another write came first. */
    toKeepCurve: (deployment: string, { version, curves }: KeptCurves, curve: BenchmarkCurve): Write =>
      table.toSave(curvesKeyOf(deployment), { version, curves: [...curves, curve].slice(-MAX_CURVES) }),
  };
};

export type BenchmarkStore = ReturnType<typeof createBenchmarkStore>;
