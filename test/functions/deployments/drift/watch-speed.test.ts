import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { watchSpeed } from '../../../../functions/deployments/drift/watch-speed.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { Benchmark, BenchmarkCurve } from '../../../../shared/deployments/benchmark.ts';
import { BENCHMARK, createBenchmarkStore } from '../../../../shared/deployments/benchmark-store.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createOutbox, OUTBOX_PREFIX, readOutboxEntry } from '../../../../shared/notifications/outbox.ts';
import { createRequestRowStore } from '../../../../shared/observability/request-row-store.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newDeployment } from '../../../support/fixtures/deployments.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const START_MS = 1_800_000_000_000;
const SPAN_MS = 10 * MINUTE_MS;
const LAG_MS = 5 * MINUTE_MS;
const TYPE = 'ml.g5.xlarge';
const TOKENS = 100;

let db: TestDatabase;
let permitted: Database;
beforeAll(async () => {
  db = await startTestDatabase();
  permitted = await db.as('deployments');
});
afterAll(() => db.close());
let lines: string[];
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
});

// A request alone: its first token after 200 ms, and then one each 20 ms. The rate is a whole number, 0.3 % too high.
const CURVE: Omit<BenchmarkCurve, 'id' | 'model'> = {
  ended_at: START_MS - DAY_MS,
  ...{
    generation: 1,
    runtime: 'vllm-0.27.0',
    instance_type: TYPE,
    accelerators: 1,
    max_concurrency_per_copy: 1,
    result: 1,
    end: 'max_reached',
  },
  goals: { ttft_p95_ms: 1_000, inter_token_p95_ms: 50 },
  mix: [{ prompt_tokens: 300, completion_tokens: TOKENS, weight: 1 }],
  points: [
    {
      ...{ at: 0, concurrency_per_copy: 1, copies: 1, requests: 30, failed_requests: 0, million_nanos: 1, meets_goals: true },
      ...{ prompt_tokens: 9_000, completion_tokens: 30 * TOKENS, ttft_ms: { p50: 200, p95: 200 }, inter_token_ms: { p50: 20, p95: 20 } },
      tokens_per_second: Math.round((TOKENS * 1_000) / (200 + 99 * 20)),
    },
  ],
};

// The times at which passes look, from the first one that begins a span to the one that compares it.
const setUp = async (fields: Partial<Deployment> = {}, benchmarkFields: Partial<Benchmark> = {}) => {
  const organization = newId('organization');
  const created = newDeployment({ organization, created_at: START_MS - DAY_MS });
  const deployment: Deployment = {
    ...created,
    generations: created.generations.map((generation) => ({ ...generation, status: 'ready' })),
    state: 'in_service',
    state_since: START_MS - DAY_MS,
    progress: { wanted: 1, pending_capacity: 0, downloading: 0, loading: 0, ready: 1 },
    meter: { until: 0, running: [{ generation: 1, instance_type: TYPE, instances: 1, phase: 'serving' }], held_nanos: 0n },
    ...fields,
  };
  let nowMs = START_MS;
  const benchmarks = createBenchmarkStore(createRecordTable(permitted, db.tables.Deployments as string));
  const requestRows = createRequestRowStore(permitted, db.tables.Observability as string);
  const writer = createRequestRowStore(db.database, db.tables.Observability as string).writer();
  const { model } = deployment.generations[0] as Deployment['generations'][number];
  const curve: BenchmarkCurve = { ...CURVE, id: 'bench_1', model };
  const { result, end, points, ended_at, ...subject } = curve;
  const benchmark: Omit<Benchmark, 'version'> = {
    ...subject,
    ...{
      deployment: deployment.id,
      organization,
      created_at: 1,
      created_by: 'user_1',
      status: 'finished' as const,
      apply: false,
      changes: 1,
    },
    ...{ budget_nanos: 1n, spent_nanos: 1n, points: [], sent: 1, attempts: 1, mix_source: 'own' as const, ended_at: START_MS },
    ...benchmarkFields,
  };
  const rows = createRecordTable(db.database, db.tables.Deployments as string);
  await rows.put({ account: deployment.id, record: BENCHMARK }, { ...benchmark, version: 1 });
  await transact(db.database, [benchmarks.toKeepCurve(deployment.id, { version: 0, curves: [] }, curve)]);
  const reads = { curves: jest.fn(benchmarks.curves), page: jest.fn(requestRows.page) };
  const row = async (): Promise<Benchmark> => (await benchmarks.find(deployment.id)) as Benchmark;
  const pass = async (now: Partial<Deployment> = {}, over: Partial<Parameters<typeof watchSpeed>[0]> = {}): Promise<void> => {
    const deps = {
      database: permitted,
      benchmarks: { ...benchmarks, curves: reads.curves },
      requestRows: { page: reads.page },
      outbox: createOutbox(createRecordTable(permitted, db.tables.Notifications as string)),
      now: () => nowMs,
      ...over,
    };
    await watchSpeed(deps, await row(), { ...deployment, ...now });
  };
  // One request after another, with so many milliseconds between two tokens.
  const send = async (fromMs: number, betweenMs: number, count = 40): Promise<void> => {
    const durationMs = 200 + (TOKENS - 1) * betweenMs;
    for (let i = 0; i < count; i++) {
      await writer.put({
        ...{ request_id: newRequestId(fromMs + i * 14 * SECOND_MS), org_id: organization, key_id: 'key_1', deployment: deployment.id },
        ...{ outcome: 'completed', prompt_tokens: 300, cached_tokens: 0, completion_tokens: TOKENS, cost_nanos: 0n },
        ...{ time_to_first_token_ms: 200, duration_ms: durationMs },
      });
    }
  };
  return {
    benchmarks,
    reads,
    row,
    pass,
    send,
    /** Requests in the span that begins now, and the pass that compares them. */
    span: async (betweenMs: number, count?: number): Promise<void> => {
      const { watch } = await row();
      const fromMs = watch?.from ?? nowMs;
      await send(fromMs, betweenMs, count);
      nowMs = Math.max(nowMs, fromMs + SPAN_MS + LAG_MS);
      await pass();
    },
    advance: (ms: number): void => {
      nowMs += ms;
    },
    notified: async () => {
      const table = createRecordTable(db.database, db.tables.Notifications as string);
      const entries = (await Array.fromAsync(table.all({ account: organization, prefix: OUTBOX_PREFIX }))).map((entry) =>
        readOutboxEntry(entry),
      );
      return entries.flatMap((entry) => (entry.kind === 'notification' ? [entry.notification] : []));
    },
    deployment,
  };
};

describe('the owners of a deployment are notified', () => {
  test('if its requests are slower than its curve in three spans', async () => {
    const { pass, span, notified, row, deployment } = await setUp();
    await pass();
    for (const betweenMs of [20, 30, 30]) await span(betweenMs);
    expect(await notified()).toEqual([]);
    await span(30);
    expect(await notified()).toEqual([
      expect.objectContaining({
        type: 'sluice.deployment.speed_drifted.v1',
        subject: deployment.id,
        data: { deployment: deployment.id, name: deployment.name, benchmark: 'bench_1', percent: -34 },
      }),
    ]);
    for (const betweenMs of [30, 30]) await span(betweenMs);
    expect(await notified()).toHaveLength(1);
    const compared = { benchmark: 'bench_1', until: START_MS + 6 * SPAN_MS, percent: -34 };
    expect((await row()).watch).toMatchObject({ beyond: -3, is_drifted: true, compared });
    // A span without requests.
    await span(30, 0);
    expect((await row()).watch).toMatchObject({ from: START_MS + 7 * SPAN_MS, compared });
  });

  test('never if they are as fast', async () => {
    const { pass, span, notified, row } = await setUp();
    await pass();
    for (const betweenMs of [20, 21, 22, 19]) await span(betweenMs);
    expect(await notified()).toEqual([]);
    expect((await row()).watch).toMatchObject({ beyond: 0, is_drifted: false });
  });
});

describe('a pass reads nothing of requests', () => {
  test.each<[string, Partial<Deployment>, Partial<Benchmark>]>([
    ['while the deployment is asleep', { state: 'scaled_to_zero' }, {}],
    ['while it is stopped', { wanted: 'stopped', state: 'stopping' }, {}],
    ['of a model that is published for all', { published_as: 'shared' }, {}],
    ['of a generation without a benchmark', {}, { generation: 2 }],
    ['on another instance type', {}, { instance_type: 'ml.g6.xlarge' }],
    ['while a benchmark runs', {}, { status: 'running' }],
  ])('%s', async (_, fields, benchmark) => {
    const { pass, reads, row, advance } = await setUp(fields, benchmark);
    for (let minute = 0; minute < 40; minute += 8) {
      await pass();
      advance(8 * MINUTE_MS);
    }
    expect([reads.curves.mock.calls, reads.page.mock.calls]).toEqual([[], []]);
    expect((await row()).version).toBe(1);
  });

  test('and writes nothing between two comparisons', async () => {
    const { pass, reads, row, advance } = await setUp();
    await pass();
    const { version } = await row();
    for (let minute = 1; minute < 15; minute++) {
      advance(MINUTE_MS);
      await pass();
    }
    expect((await row()).version).toBe(version);
    advance(MINUTE_MS);
    await pass();
    expect(reads.page).toHaveBeenCalledTimes(1);
    expect((await row()).watch?.from).toBe(START_MS + SPAN_MS);
  });

  test('if copies were added or it slept since the last comparison', async () => {
    const { pass, reads, row, advance } = await setUp();
    await pass();
    advance(9 * MINUTE_MS);
    const two = { progress: { wanted: 2, pending_capacity: 0, downloading: 0, loading: 0, ready: 2 } };
    await pass(two);
    expect((await row()).watch).toMatchObject({ from: START_MS + 9 * MINUTE_MS, copies: 2 });
    advance(SPAN_MS);
    await pass({ ...two, state_since: START_MS + 12 * MINUTE_MS });
    expect((await row()).watch?.from).toBe(START_MS + 19 * MINUTE_MS);
    // It was asleep for an hour.
    advance(60 * MINUTE_MS);
    await pass(two);
    expect((await row()).watch?.from).toBe(START_MS + 79 * MINUTE_MS);
    expect(reads.page).not.toHaveBeenCalled();
  });
});

test('keeps a drift over a time that was not compared', async () => {
  const { pass, span, row, advance, notified } = await setUp();
  await pass();
  for (const betweenMs of [30, 30, 30]) await span(betweenMs);
  advance(2 * 60 * MINUTE_MS);
  await pass();
  expect((await row()).watch).toMatchObject({ is_drifted: true, notified_at: expect.any(Number) });
  for (const betweenMs of [30, 30, 30]) await span(betweenMs);
  expect(await notified()).toHaveLength(1);
});

test('never keeps a pass from succeeding', async () => {
  const { pass, row, advance, benchmarks } = await setUp();
  await pass();
  advance(SPAN_MS + LAG_MS);
  await pass({}, { requestRows: { page: () => Promise.reject(new Error('The database is away.')) } });
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['speed_not_compared']);
  // A benchmark is started while it compares.
  const { watch: _, ...other } = { ...(await row()), id: 'bench_2' };
  const page = async () => {
    await transact(db.database, [benchmarks.toReplace(other)]);
    return { rows: [], next: undefined, searchedToMs: 0 };
  };
  await pass({}, { requestRows: { page } });
  expect(await row()).toEqual({ ...other, version: other.version + 1 });
  expect(lines).toHaveLength(1);
});
