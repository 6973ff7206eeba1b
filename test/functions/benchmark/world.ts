import { type BenchmarkDependencies, type RunOutcome, runBenchmark } from '../../../functions/benchmark/run-benchmark.ts';
import { type BatchTimes, type Clock, createBatch } from '../../../infra/local/model-server/replies/batch.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Benchmark } from '../../../shared/deployments/benchmark.ts';
import { createBenchmarkStore } from '../../../shared/deployments/benchmark-store.ts';
import { createCatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { idLike, newTimedId } from '../../../shared/ids/id.ts';
import { createOutbox } from '../../../shared/notifications/outbox.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { createUsageStore } from '../../../shared/usage/usage-store.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { catalogueOf } from '../../support/fixtures/deployment-catalogue.ts';
import { deploymentsOf, newDeployment, storeDeployment } from '../../support/fixtures/deployments.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { createWorkClock, type WorkClock } from './work-clock.ts';

const START_MS = 1_800_000_000_000;
// $3.60 an hour: a millidollar a second.
const HOUR_NANOS = 3_600_000_000;
const TYPE = 'ml.g5.xlarge';
export const TIMES: BatchTimes = { step_ms: 20, step_ms_per_sequence: 2, prefill_ms_per_1000_tokens: 10, max_sequences: 64 };

const TEMPLATE_TOKENS = 10;

/** Time passes as a batch generates tokens. */
export const createClock = () => {
  let nowMs = START_MS;
  return createWorkClock({
    now: () => nowMs,
    advanceTo: (ms) => {
      nowMs = ms;
    },
  });
};

/** A request as the container has seen it, in the order of arrival. Times are in ms, with fractions. */
export interface Served {
  arrivedMs: number;
  promptTokens: number;
  /** The time of each of its tokens. */
  tokensMs: number[];
}

interface Traffic {
  /** Requests that were sent and have not ended. */
  inFlight: number;
  mostInFlight: number;
  sent: number;
  /** Called with the number of each request. */
  onRequest: (sent: number) => void | Promise<void>;
  times: BatchTimes;
  /** The tokens of a word. */
  tokensOf: (word: string) => number;
  served: Served[];
}

/** A container that counts 10 tokens for its template, and by default one for each word. */
export const createContainer = (clock: WorkClock) => {
  const batchClock: Clock = { now: clock.exact, waitUntil: clock.moveTo };
  const batch = createBatch(batchClock);
  const traffic: Traffic = {
    inFlight: 0,
    mostInFlight: 0,
    sent: 0,
    onRequest: () => undefined,
    times: TIMES,
    tokensOf: () => 1,
    served: [],
  };
  const invoke: Invoke = (invocation) => {
    const answer = async function* () {
      const body = JSON.parse(invocation.body) as { messages: { content: string }[]; max_tokens: number };
      const words = body.messages[0]?.content.split(' ') ?? [];
      const promptTokens = words.reduce((sum, word) => sum + traffic.tokensOf(word), TEMPLATE_TOKENS);
      const served: Served = { arrivedMs: clock.exact(), promptTokens, tokensMs: [] };
      traffic.served.push(served);
      const { signal } = invocation.signal;
      traffic.inFlight += 1;
      traffic.sent += 1;
      traffic.mostInFlight = Math.max(traffic.mostInFlight, traffic.inFlight);
      const place = batch.enter(traffic.times, { count: 1, promptTokens });
      try {
        await traffic.onRequest(traffic.sent);
        for (let token = 1; token <= body.max_tokens; token++) {
          await place.tokens(signal);
          served.tokensMs.push(clock.exact());
          const finish_reason = token === body.max_tokens ? 'length' : null;
          yield [{ choices: [{ index: 0, delta: { content: 'word ' }, finish_reason }] }];
        }
        yield [{ choices: [], usage: { prompt_tokens: promptTokens, completion_tokens: body.max_tokens } }];
      } finally {
        place.leave();
        traffic.inFlight -= 1;
      }
    };
    return answer() as ReturnType<Invoke>;
  };
  return { invoke, traffic };
};

interface WorldOptions {
  deployment?: Partial<Deployment>;
  benchmark?: Partial<Benchmark>;
  hourNanos?: number;
  random?: () => number;
}

/** A deployment in service whose container has a queue model, and a benchmark of it that nobody runs yet. */
export const createWorld = async (test: TestDatabase, options: WorldOptions = {}) => {
  const clock = createClock();
  const { invoke, traffic } = createContainer(clock);
  const organization = newId('organization');
  const made = newDeployment({ organization, created_at: START_MS });
  const catalogue = catalogueOf(test);
  const type = await catalogue.instanceTypes.get(TYPE);
  if (!type) throw new Error(`${TYPE} is not in the catalogue.`);
  const prices = [{ version: 'p1', effective_at: 0, hour_nanos: options.hourNanos ?? HOUR_NANOS }];
  await test.database.put({
    TableName: test.tables.Deployments as string,
    Item: { ...type, prices, version: 1, account: 'catalogue', record: `instance#${TYPE}` },
  });
  const deployment = await storeDeployment(test, {
    ...made,
    generations: made.generations.map((generation) => ({ ...generation, status: 'ready' as const })),
    copies: { min: 1, max: 1 },
    state: 'in_service',
    progress: { wanted: 1, pending_capacity: 0, downloading: 0, loading: 0, ready: 1 },
    meter: { until: START_MS, running: [{ generation: 1, instance_type: TYPE, instances: 1, phase: 'serving' }], held_nanos: 0n },
    ...options.deployment,
  });
  const watched = clock.watch(test.database);
  const rows = createRecordTable(watched, test.tables.Deployments as string);
  const benchmarks = createBenchmarkStore(rows);
  const benchmark: Omit<Benchmark, 'version'> = {
    id: newTimedId('benchmark', START_MS),
    deployment: deployment.id,
    organization,
    created_at: START_MS,
    created_by: 'user_1',
    status: 'queued',
    generation: 1,
    model: deployment.generations[0]?.model ?? '',
    runtime: 'vllm-0.27.0',
    instance_type: TYPE,
    accelerators: 1,
    goals: { ttft_p95_ms: 2_000, inter_token_p95_ms: 41 },
    mix: [{ prompt_tokens: 100, completion_tokens: 20, weight: 1 }],
    mix_source: 'given',
    max_concurrency_per_copy: 32,
    apply: false,
    changes: 1,
    budget_nanos: 10_000_000_000n,
    spent_nanos: 0n,
    points: [],
    sent: 0,
    attempts: 0,
    ...options.benchmark,
  };
  const start = async (next: Omit<Benchmark, 'version'> = benchmark): Promise<void> =>
    transact(watched, benchmarks.toStart(next, await benchmarks.find(deployment.id)));
  await start();

  let owners = 0;
  const dependenciesOn = (own: Database): Omit<BenchmarkDependencies, 'hasTime'> => {
    const recordsOf = (name: string) => createRecordTable(own, test.tables[name] as string);
    return {
      database: own,
      benchmarks: createBenchmarkStore(recordsOf('Deployments')),
      deployments: deploymentsOf({ database: own, tables: test.tables }),
      catalogue: createCatalogueStore(recordsOf('Deployments')),
      audit: createAuditStore(recordsOf('Audit')),
      outbox: createOutbox(recordsOf('Notifications')),
      usage: createUsageStore(own, test.tables.Usage as string),
      invoke,
      installation: 'sluice',
      now: clock.now,
      clock: clock.exact,
      wait: clock.wait,
      random: options.random ?? Math.random,
      newOwner: () => `owner-${++owners}`,
    };
  };

  return {
    clock,
    traffic,
    deployment,
    benchmark,
    benchmarks,
    start,
    run: (database: Database = test.database, hasTime = () => true): Promise<RunOutcome> =>
      runBenchmark({ ...dependenciesOn(clock.watch(database)), hasTime }, deployment.id),
    /** The clock doesn't wait for the calls of this database. */
    runBesides: (database: Database): Promise<RunOutcome> =>
      runBenchmark({ ...dependenciesOn(database), hasTime: () => true }, deployment.id),
    row: async (): Promise<Benchmark> => (await benchmarks.find(deployment.id)) as Benchmark,
    /** Changes the deployment, as the reconciler or its owner does. */
    change: async (fields: Partial<Deployment>): Promise<void> => {
      const store = deploymentsOf({ database: watched, tables: test.tables });
      const current = (await store.find(deployment.id)) as Deployment;
      await transact(watched, [store.toReplace({ ...current, ...fields })]);
    },
    current: async (): Promise<Deployment> => (await deploymentsOf(test).find(deployment.id)) as Deployment,
    events: async (): Promise<UsageEvent[]> => {
      const events: UsageEvent[] = [];
      const keyId = idLike('key', deployment.id);
      const bucketMs = 600_000;
      for (let atMs = START_MS; atMs <= clock.now() + bucketMs; atMs += bucketMs)
        for await (const event of test.usage.listByBucket(`${keyId}`, atMs)) events.push(event);
      return events;
    },
    notifications: () => Array.fromAsync(createRecordTable(test.database, test.tables.Notifications as string).allOf(organization)),
    auditEntries: () => Array.fromAsync(createRecordTable(test.database, test.tables.Audit as string).allOf(organization)),
  };
};

export type BenchmarkWorld = Awaited<ReturnType<typeof createWorld>>;
