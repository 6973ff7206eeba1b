import type { Database } from '../../shared/database/database.ts';
import { transact, type Write } from '../../shared/database/transaction.ts';
import { type Benchmark, type BenchmarkEnd, endedAs, LEVEL_MS, MAX_BENCHMARK_MS } from '../../shared/deployments/benchmark.ts';
import type { BenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import type { CatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { type Deployment, isActive } from '../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../shared/deployments/deployment-store.ts';
import { costOfTime, type HourRate, hourRateOf } from '../../shared/gpu-time/hour-rate.ts';
import { PreconditionFailed } from '../../shared/http/errors.ts';

// How often a running benchmark renews its lease, pays for GPU time, and checks that it may go on.
const BEAT_MS = 5_000;
// It pays for this long in advance, and stops sending requests if it could not pay again by then.
const HOLD_MS = 3 * BEAT_MS;
/** Another function takes over if the lease was not renewed for so long: longer than one goes on without paying. */
export const LEASE_MS = 2 * HOLD_MS;

/** The benchmark must end early. */
export class Stopped extends Error {
  readonly end: BenchmarkEnd;
  constructor(end: BenchmarkEnd) {
    super(`The benchmark ended: ${end}.`);
    this.end = end;
  }
}

/** The benchmark was cancelled or deleted, or another function runs it. */
export class LeaseLost extends Error {}

/** The copies that are ready changed, so a level has to be measured again. */
export class CopiesChanged extends Error {}

export interface RunDependencies {
  database: Database;
  benchmarks: BenchmarkStore;
  deployments: Pick<DeploymentStore, 'find'>;
  catalogue: CatalogueStore;
  now: () => number;
  /** Resolves after this many milliseconds, or rejects when the signal is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

// Returns the deployment if the benchmark may go on.
const checkDeployment = (deployment: Deployment | undefined, { generation }: Pick<Benchmark, 'generation'>): Deployment => {
  if (deployment?.wanted !== 'running') throw new Stopped('not_in_service');
  const [active, ...others] = deployment.generations.filter(isActive);
  if (others.length > 0 || active?.number !== generation) throw new Stopped('deployment_changed');
  if (deployment.state !== 'in_service' || deployment.progress.ready === 0) throw new Stopped('not_in_service');
  return deployment;
};

// Math.min takes no bigints.
const cheaper = (one: bigint, other: bigint): bigint => {
  if (one < other) return one;
  return other;
};

const throwLost = (error: unknown): never => {
  throw error instanceof PreconditionFailed ? new LeaseLost() : error;
};

/** Takes a benchmark that nobody runs. @returns undefined if another function was faster */
export const takeLease = async (
  deps: Pick<RunDependencies, 'database' | 'benchmarks' | 'now'>,
  benchmark: Benchmark,
  owner: string,
): Promise<Benchmark | undefined> => {
  const nowMs = deps.now();
  const taken: Benchmark = {
    ...benchmark,
    status: 'running',
    started_at: benchmark.started_at ?? nowMs,
    attempts: benchmark.attempts + 1,
    lease: { owner, until: nowMs + LEASE_MS },
  };
  try {
    await transact(deps.database, [deps.benchmarks.toReplace(taken)]);
    return { ...taken, version: taken.version + 1 };
  } catch (error) {
    if (error instanceof PreconditionFailed) return undefined;
    throw error;
  }
};

/**
 * The run of a benchmark by the function that has its lease. GPU time is paid in advance, by the write that renews the
 * lease: a function that is killed has paid for what it used, and the budget is never exceeded.
 */
export const createSession = (deps: RunDependencies, taken: Benchmark) => {
  const { benchmarks, now } = deps;
  let row = taken;
  // Until then, GPU time is in `settled`. Beyond it, `spent_nanos` holds the next seconds.
  let settledUntilMs = now();
  let settled = taken.spent_nanos;
  let paidUntilMs = settledUntilMs;
  let rate: HourRate | undefined;

  const readDeployment = async (): Promise<Deployment> => {
    const deployment = checkDeployment(await deps.deployments.find(row.deployment), row);
    if (now() - (row.started_at ?? now()) > MAX_BENCHMARK_MS) throw new Stopped('took_too_long');
    return deployment;
  };

  // The higher of the rates at the start and at the end of a period counts.
  const settle = (next: HourRate | undefined, nowMs: number): void => {
    const nanos = [rate, next].reduce((most, each) => (each && each.presentNanos > most ? each.presentNanos : most), 0n);
    const total = settled + costOfTime(nanos, nowMs - settledUntilMs);
    // Nothing is sent after the time for which the budget lasts, however late that is noticed.
    settled = cheaper(total, row.budget_nanos);
    settledUntilMs = nowMs;
    if (next) rate = next;
  };

  const write = async (change: Partial<Benchmark>, others: readonly Write[] = []): Promise<void> => {
    const next = { ...row, ...change };
    await transact(deps.database, [benchmarks.toReplace(next), ...others]).catch(throwLost);
    row = { ...next, version: row.version + 1 };
  };

  // Held at the most that the instances can cost, so that more of them don't exceed the budget.
  const pay = async (change: Partial<Benchmark> = {}): Promise<Deployment> => {
    const deployment = await readDeployment();
    const next = await hourRateOf(deps.catalogue, deployment, now());
    const nowMs = now();
    settle(next, nowMs);
    const spent_nanos = settled + costOfTime(next.mostNanos, HOLD_MS);
    if (spent_nanos > row.budget_nanos) throw new Stopped('budget_spent');
    const lease = row.lease && { ...row.lease, until: nowMs + LEASE_MS };
    await write({ ...change, spent_nanos, ...(lease && { lease }) });
    paidUntilMs = nowMs + HOLD_MS;
    return deployment;
  };

  // Nothing is sent for longer than it is paid for.
  const inTime = async <Result>(work: Promise<Result>): Promise<Result> => {
    const done = new AbortController();
    const tooLate = deps.wait(Math.max(0, paidUntilMs - now()), done.signal).then((): never => {
      throw new LeaseLost();
    });
    try {
      return await Promise.race([work, tooLate]);
    } finally {
      done.abort();
    }
  };

  // Pays until the work is over, and aborts it if it must not go on.
  const watch = async (copies: number, stop: AbortController): Promise<void> => {
    try {
      for (;;) {
        await deps.wait(BEAT_MS, stop.signal);
        const deployment = await inTime(pay());
        if (deployment.progress.ready !== copies) throw new CopiesChanged();
      }
    } catch (error) {
      // After the work's own end there is nothing to stop.
      if (!stop.signal.aborted) stop.abort(error);
    }
  };

  return {
    row: (): Benchmark => row,

    /** Pays for the next level. @throws Stopped if the budget may not last for it, LeaseLost */
    begin: async (): Promise<{ deployment: Deployment; rate: HourRate }> => {
      const deployment = await readDeployment();
      const next = await hourRateOf(deps.catalogue, deployment, now());
      settle(next, now());
      if (settled + costOfTime(next.mostNanos, LEVEL_MS) > row.budget_nanos) throw new Stopped('budget_spent');
      return { deployment: await pay(), rate: next };
    },

    /** Does work that the deployment's copies are needed for. @throws the reason if it must not go on */
    watched: async <Result>(copies: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
      const stop = new AbortController();
      const watching = watch(copies, stop);
      try {
        const result = await work(stop.signal).catch(async (error: unknown) => {
          // Requests fail when a deployment leaves service, and then that is the reason.
          if (!stop.signal.aborted) await readDeployment();
          throw error;
        });
        stop.signal.throwIfAborted();
        if ((await readDeployment()).progress.ready !== copies) throw new CopiesChanged();
        return result;
      } catch (error) {
        throw stop.signal.aborted ? stop.signal.reason : error;
      } finally {
        if (!stop.signal.aborted) stop.abort();
        await watching;
      }
    },

    /** Stores progress. @throws LeaseLost */
    save: async (change: Partial<Benchmark>): Promise<void> => void (await pay(change)),

    /** Leaves the benchmark to the next function. @throws LeaseLost */
    release: async (): Promise<void> => {
      settle(undefined, now());
      const { lease: _, ...rest } = row;
      row = { ...rest, spent_nanos: settled };
      await write({});
    },

    /** Ends the benchmark, in one transaction with other writes. @throws LeaseLost, also if one of them is refused */
    end: async (
      status: Parameters<typeof endedAs>[1],
      end: BenchmarkEnd,
      change: Partial<Benchmark> = {},
      others: readonly Write[] = [],
    ): Promise<void> => {
      settle(undefined, now());
      const ended = endedAs({ ...row, ...change, spent_nanos: settled }, status, end, now());
      await transact(deps.database, [benchmarks.toReplace(ended), ...others]).catch(throwLost);
      row = { ...ended, version: row.version + 1 };
    },
  };
};

export type Session = ReturnType<typeof createSession>;
