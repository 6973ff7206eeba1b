import { runBenchmark } from '../../../functions/benchmark/run-benchmark.ts';
import { LEASE_MS } from '../../../functions/benchmark/session.ts';
import { resumeBenchmark } from '../../../functions/deployments/resume-benchmark.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import type { Database, Item } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { type Benchmark, type BenchmarkEnd, endedAs, isOpen } from '../../../shared/deployments/benchmark.ts';
import { createBenchmarkStore } from '../../../shared/deployments/benchmark-store.ts';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { type Deployment, isActive } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { costOfTime } from '../../../shared/gpu-time/hour-rate.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { createOutbox } from '../../../shared/notifications/outbox.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { createWorkClock } from '../benchmark/work-clock.ts';
import { INSTALLATION, type World } from './world.ts';

/** The fate of a run of the function `benchmark`: it is killed at a call of the database, or its time is over. */
export interface RunFault {
  killAt?: { call: number; when: 'before' | 'after' } | undefined;
  /** The levels that it has time for. */
  levels: number;
}

/** A benchmark that an owner starts. */
export interface StartedBenchmark {
  budgetSeconds: number;
  maxConcurrency: number;
  ttftGoalMs: number;
  /** A request alone waits so long for its first token. */
  firstMs: number;
  apply: boolean;
  /** The write of the request arrives so long after it has read the deployment. */
  lateMs: number;
  /** The faults of its runs, in order. Later runs have none. */
  runs: readonly RunFault[];
}

interface Run {
  isDead: boolean;
  inFlight: number;
}

// When the deployment did not serve, as its row said.
interface Unserved {
  fromMs: number;
  toMs: number;
}

// $3.60 an hour: a millidollar a second.
const HOUR_NANOS = 3_600_000_000n;
const SECOND_NANOS = 1_000_000n;
// A request waits longer for its first token beside others.
const BESIDE_MS = 100;
// A run notices within this time that it must end: no longer than it has paid for.
const NOTICED_MS = LEASE_MS / 2;
// More than a benchmark has.
const ALL_LEVELS = 100;

const RESULTS: readonly (BenchmarkEnd | undefined)[] = ['goal_missed', 'never_met', 'max_reached'];
const STOPS: readonly (BenchmarkEnd | undefined)[] = ['budget_spent', 'cancelled', 'deployment_changed', 'not_in_service', 'took_too_long'];
const FAILURES: readonly (BenchmarkEnd | undefined)[] = ['requests_failed', 'runner_failed'];
const ENDS: Readonly<Record<Benchmark['status'], readonly (BenchmarkEnd | undefined)[]>> = {
  ...{ queued: [], running: [], finished: RESULTS, stopped: STOPS, failed: FAILURES },
};

const prices = async () => [{ version: 'p1', effective_at: 0, hour_nanos: Number(HOUR_NANOS) }];
const CATALOGUE = { prices, instanceTypes: { get: async () => undefined } } as unknown as CatalogueStore;

// Another write came first.
const unlessFirst = (error: unknown): false => {
  if (!(error instanceof PreconditionFailed)) throw error;
  return false;
};

const never = <Result>(): Promise<Result> => new Promise(() => undefined);

/** The benchmarks of a deployment that lives: its owner's commands, the runs of their function, and what must hold. */
export const createBenchmarkLife = (test: TestDatabase, world: World) => {
  const { plane } = world;
  const clock = createWorkClock({ now: plane.now, advanceTo: (ms) => plane.advance(ms - plane.now()) });
  const rowsOf = (database: Database, table: string) => createRecordTable(database, test.tables[table] as string);
  const benchmarks = createBenchmarkStore(rowsOf(test.database, 'Deployments'));
  const runs = new Set<Run>();
  const faults: RunFault[] = [];
  const requests: { benchmark: string; atMs: number }[] = [];
  // By id, as it was last seen.
  const seen = new Map<string, Benchmark>();
  const unserved: Unserved[] = [];
  // Promises that were broken.
  const wrong: string[] = [];
  const spentNanos = new Map<string, bigint>();
  let hourNanos = 0n;
  let countedUntilMs = plane.now();
  let deletedAtMs: number | undefined;
  let current: string | undefined;
  let owners = 0;
  let firstMs = 0;
  let late: { dueMs: number; write: () => Promise<void> }[] = [];

  const inFlight = (): number => [...runs].reduce((sum, run) => sum + run.inFlight, 0);

  // Adds the cost of the instances while a benchmark's requests were in flight.
  const count = (): void => {
    const nowMs = plane.now();
    if (inFlight() > 0 && current !== undefined) {
      const nanos = costOfTime(hourNanos, nowMs - countedUntilMs);
      spentNanos.set(current, (spentNanos.get(current) ?? 0n) + nanos);
    }
    countedUntilMs = nowMs;
  };

  const endpointAnswers = (endpoint: string): boolean =>
    plane.account.findServing(endpoint, endpoint)?.revisions.some(({ readyCopies }) => readyCopies > 0) === true;

  const invokeOf =
    (run: Run, benchmark: string): Invoke =>
    ({ target, signal }) => {
      const answer = async function* () {
        if (run.isDead) await never();
        const others = [...runs].some((other) => other !== run && other.inFlight > 0);
        if (others) wrong.push(`Two runs sent requests at ${plane.now()}.`);
        requests.push({ benchmark, atMs: plane.now() });
        count();
        current = benchmark;
        run.inFlight++;
        try {
          if (!endpointAnswers(target.endpoint)) throw new Error(`${target.endpoint} does not answer.`);
          await clock.wait(firstMs + BESIDE_MS * (run.inFlight - 1), signal.signal);
          yield [{ choices: [{ index: 0, delta: { content: 'word' }, finish_reason: 'length' }] }];
          yield [{ choices: [], usage: { prompt_tokens: 10, completion_tokens: 1 } }];
        } finally {
          if (!run.isDead) {
            count();
            run.inFlight--;
            world.use.lastEventAtMs = plane.now();
          }
        }
      };
      return answer() as ReturnType<Invoke>;
    };

  const kill = (run: Run): void => {
    count();
    run.isDead = true;
    run.inFlight = 0;
    runs.delete(run);
  };

  const checkBudget = ({ TransactItems = [] }: { TransactItems?: { Put?: { Item: Item } }[] }): void => {
    for (const { id, spent_nanos, budget_nanos } of TransactItems.flatMap(({ Put }) => (Put ? [Put.Item] : [])))
      if (typeof spent_nanos === 'bigint' && spent_nanos > (budget_nanos as bigint)) wrong.push(`${id} writes ${spent_nanos}.`);
  };

  // After a process was killed, none of its calls happens or returns.
  const databaseOf = (run: Run, { killAt }: RunFault): Database => {
    let calls = 0;
    const watched = clock.watch(test.database);
    return new Proxy(test.database, {
      get: (_, name: keyof Database) => async (input: never) => {
        const isPoint = calls++ === killAt?.call;
        if (isPoint && killAt?.when === 'before') kill(run);
        if (run.isDead) return never();
        checkBudget(input);
        const reply = await watched[name](input);
        if (isPoint) kill(run);
        return run.isDead ? never() : reply;
      },
    });
  };

  const begin = async (id: string): Promise<void> => {
    const benchmark = await benchmarks.find(id);
    const run: Run = { isDead: false, inFlight: 0 };
    const fault = faults.shift() ?? { levels: ALL_LEVELS };
    const database = databaseOf(run, fault);
    const rows = rowsOf(database, 'Deployments');
    let levels = 0;
    runs.add(run);
    const running = runBenchmark(
      {
        database,
        benchmarks: createBenchmarkStore(rows),
        deployments: createDeploymentStore(rows),
        catalogue: CATALOGUE,
        audit: createAuditStore(rowsOf(database, 'Audit')),
        outbox: createOutbox(rowsOf(database, 'Notifications')),
        usage: { addIfAbsent: async () => undefined },
        invoke: invokeOf(run, benchmark?.id ?? ''),
        installation: INSTALLATION.name,
        now: clock.now,
        clock: clock.exact,
        wait: clock.wait,
        random: () => 0.5,
        newOwner: () => `owner-${++owners}`,
        hasTime: () => ++levels <= fault.levels,
      },
      id,
    );
    const ended = (): void => {
      if (run.inFlight > 0) wrong.push('A run ended before its requests.');
      runs.delete(run);
    };
    void running.then(ended, (error: unknown) => {
      ended();
      wrong.push(String(error));
    });
  };

  // Notes how the deployment and its benchmark are now.
  const look = async (): Promise<Deployment | undefined> => {
    if (seen.size === 0) return undefined;
    count();
    const nowMs = plane.now();
    const [row, benchmark] = await Promise.all([world.read(), benchmarks.find(world.id)]);
    hourNanos = BigInt((row.meter?.running ?? []).reduce((sum, { instances }) => sum + instances, 0)) * HOUR_NANOS;
    if (row.state === 'deleted') deletedAtMs ??= nowMs;
    const isServed = row.wanted === 'running' && row.state === 'in_service' && row.progress.ready > 0;
    const last = unserved.at(-1);
    if (isServed && last?.toMs === Number.POSITIVE_INFINITY) last.toMs = nowMs;
    if (!isServed && last?.toMs !== Number.POSITIVE_INFINITY) unserved.push({ fromMs: nowMs, toMs: Number.POSITIVE_INFINITY });
    if (benchmark) seen.set(benchmark.id, benchmark);
    return row;
  };

  const start = async (fields: StartedBenchmark): Promise<void> => {
    const [row, before] = await Promise.all([world.read(), benchmarks.find(world.id)]);
    const [generation, ...others] = row.generations.filter(isActive);
    const isMeasurable = row.wanted === 'running' && row.state === 'in_service' && row.progress.ready > 0;
    if (!isMeasurable || !generation || others.length > 0 || (before && isOpen(before))) return;
    if (before) seen.set(before.id, before);
    const benchmark: Omit<Benchmark, 'version'> = {
      id: newTimedId('benchmark', plane.now()),
      deployment: row.id,
      organization: row.organization,
      created_at: plane.now(),
      created_by: 'user_1',
      status: 'queued',
      generation: generation.number,
      model: generation.model,
      runtime: generation.runtime.id,
      instance_type: generation.instance_types[0] ?? '',
      accelerators: generation.accelerators,
      goals: { ttft_p95_ms: fields.ttftGoalMs, inter_token_p95_ms: 1 },
      mix: [{ prompt_tokens: 10, completion_tokens: 1, weight: 1 }],
      mix_source: 'given',
      max_concurrency_per_copy: fields.maxConcurrency,
      apply: fields.apply,
      changes: row.changes,
      budget_nanos: BigInt(fields.budgetSeconds) * SECOND_NANOS,
      spent_nanos: 0n,
      points: [],
      sent: 0,
      attempts: 0,
    };
    const write = async (): Promise<void> => {
      const writes = transact(test.database, benchmarks.toStart(benchmark, before));
      if (!(await writes.then(() => true).catch(unlessFirst))) return;
      faults.splice(0, faults.length, ...fields.runs);
      ({ firstMs } = fields);
      seen.set(benchmark.id, { ...benchmark, version: 1 });
      await look();
    };
    if (fields.lateMs > 0) late.push({ dueMs: plane.now() + fields.lateMs, write });
    else await write();
  };

  const arrive = async (isDue: (dueMs: number) => boolean): Promise<void> => {
    const due = late.filter(({ dueMs }) => isDue(dueMs));
    late = late.filter(({ dueMs }) => !isDue(dueMs));
    for (const { write } of due) await write();
  };

  const cancel = async (): Promise<void> => {
    const benchmark = await benchmarks.find(world.id);
    if (!benchmark || !isOpen(benchmark)) return;
    const cancelled = endedAs(benchmark, 'stopped', 'cancelled', plane.now());
    await transact(test.database, [benchmarks.toReplace(cancelled)]).catch(unlessFirst);
  };

  const isOver = (id: string): boolean => {
    const last = seen.get(id);
    return last !== undefined && !isOpen(last);
  };
  const endOf = (id: string): number => (isOver(id) ? seen.get(id)?.ended_at : deletedAtMs) ?? Number.POSITIVE_INFINITY;

  return {
    clock,
    start,
    cancel,
    /** Notes how the deployment is now. @returns its row; undefined if it never had a benchmark */
    look,

    /** True if the deployment ever had a benchmark. */
    exists: (): boolean => seen.size > 0,

    /** Lets the writes arrive that are due. */
    arrive: (): Promise<void> => arrive((dueMs) => dueMs <= plane.now()),

    /** Late writes arrive after a deletion, of which nothing may be left. Otherwise their requests were killed. */
    arriveLast: async (row: Deployment): Promise<void> => {
      const isDeleted = row.state === 'deleted';
      await arrive(() => isDeleted);
      late = [];
      const left = isDeleted ? await benchmarks.find(row.id) : undefined;
      if (left) wrong.push(`${left.id} is left after the deletion.`);
    },

    /** Does what a pass does after it has reconciled the deployment. */
    resume: async (): Promise<void> => {
      if (seen.size === 0) return;
      await resumeBenchmark({ benchmarks, invoke: begin, now: plane.now }, world.id);
      await clock.settle();
    },

    /** Kills the function, if it runs. */
    kill: (): void => {
      for (const run of runs) kill(run);
    },

    /** Later runs go well. */
    endFaults: (): void => void faults.splice(0),

    /** True until the benchmark has ended, or has gone with its deployment. */
    isOpen: (): boolean => deletedAtMs === undefined && [...seen.values()].some(isOpen),

    /** The promises that the benchmarks of a life have broken, once it has settled. */
    check: (row: Deployment): string[] => {
      const isDeleted = deletedAtMs !== undefined;
      for (const benchmark of seen.values()) {
        const { id, status, end, lease, spent_nanos, budget_nanos, ended_at = 0 } = benchmark;
        if (spent_nanos > budget_nanos) wrong.push(`${id} spent ${spent_nanos} of ${budget_nanos}.`);
        const nanos = spentNanos.get(id) ?? 0n;
        if (nanos > budget_nanos) wrong.push(`${id} used ${nanos} of ${budget_nanos}.`);
        if (isDeleted && isOpen(benchmark)) continue;
        if (nanos > spent_nanos) wrong.push(`${id} used ${nanos} and paid ${spent_nanos}.`);
        if (!ENDS[status].includes(end) || lease) wrong.push(`${id} is ${status} with the end ${end}${lease ? ', with a lease' : ''}.`);
        const isUnserved = unserved.some(({ fromMs, toMs }) => fromMs < ended_at && ended_at < toMs);
        const mayEnd = [...RESULTS, 'cancelled', 'deployment_changed', 'not_in_service', 'runner_failed'];
        if (isUnserved && !mayEnd.includes(end)) wrong.push(`${id} ended as ${end} although the deployment did not serve.`);
      }
      for (const { benchmark, atMs } of requests) {
        if (atMs > endOf(benchmark) + NOTICED_MS) wrong.push(`${benchmark} sent a request at ${atMs}, after its end.`);
        if (unserved.some(({ fromMs, toMs }) => fromMs + NOTICED_MS < atMs && atMs < toMs))
          wrong.push(`${benchmark} sent a request at ${atMs}, while the deployment did not serve.`);
      }
      const applied = [...seen.values()].findLast((benchmark) => benchmark.applied === 'applied');
      if (applied && row.max_concurrency_per_copy !== applied.result) wrong.push(`${applied.id} was not applied.`);
      if (inFlight() > 0) wrong.push('Requests are in flight.');
      return wrong;
    },
  };
};
