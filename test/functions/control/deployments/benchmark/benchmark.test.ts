import { beforeEach, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { Trial } from '../../../../../functions/control/access/route.ts';
import {
  type BenchmarkEstimate,
  type DeploymentBenchmark,
  toBenchmarkResource,
} from '../../../../../functions/control/deployments/benchmark/benchmark-resource.ts';
import { cancelBenchmark } from '../../../../../functions/control/deployments/benchmark/cancel-benchmark.ts';
import { NewBenchmark } from '../../../../../functions/control/deployments/benchmark/new-benchmark.ts';
import { retrieveBenchmark } from '../../../../../functions/control/deployments/benchmark/retrieve-benchmark.ts';
import { startBenchmark } from '../../../../../functions/control/deployments/benchmark/start-benchmark.ts';
import type { DeploymentResource } from '../../../../../functions/control/deployments/deployment-resource.ts';
import { createRecordTable } from '../../../../../shared/database/record-table.ts';
import { transact } from '../../../../../shared/database/transaction.ts';
import type { BenchmarkCurve } from '../../../../../shared/deployments/benchmark.ts';
import { BENCHMARK } from '../../../../../shared/deployments/benchmark-store.ts';
import type { Deployment } from '../../../../../shared/deployments/deployment.ts';
import { idLike } from '../../../../../shared/ids/id.ts';
import { createRequestRowStore } from '../../../../../shared/observability/request-row-store.ts';
import { createOrganizationTotalsStore } from '../../../../../shared/usage/organization-totals-store.ts';
import { noTotals } from '../../../../../shared/usage/totals.ts';
import type { TestDatabase } from '../../../../support/emulators/database.ts';
import { benchmarkCurve, benchmarkPoint } from '../../../../support/fixtures/gpu-time/benchmark-curve.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../../support/fixtures/managed-deployments.ts';
import { requestRow } from '../../../../support/fixtures/request-rows.ts';

const MIX = [{ prompt_tokens: 1_000, completion_tokens: 100 }];

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
let member: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner, member } = tenant);
});

const serve = async (
  fields: object = {},
  change: (before: Deployment) => Partial<Deployment> = () => ({}),
): Promise<DeploymentResource> => {
  const created = await managed.create(owner, fields);
  await managed.observe(created.id, (before) => ({
    ...before,
    state: 'in_service',
    generations: before.generations.map((generation) => ({ ...generation, status: 'ready' as const })),
    progress: { wanted: 1, pending_capacity: 0, downloading: 0, loading: 0, ready: 1 },
    meter: {
      until: NOW_MS,
      running: [{ generation: 1, instance_type: 'ml.g5.xlarge', instances: 1, phase: 'serving' }],
      held_nanos: 0n,
    },
    ...change(before),
  }));
  return created;
};

const start = async (id: string, body: object = {}, actor = owner): Promise<DeploymentBenchmark> => {
  const parsed = NewBenchmark.parse({ budget: '10', mix: MIX, ...body });
  return (await startBenchmark(managed.deps, actor, id, parsed)) as DeploymentBenchmark;
};

let deployment: DeploymentResource;
beforeEach(async () => {
  deployment = await serve();
});

test('each kept curve says how it differs from the last one before it that is alike', () => {
  const curveOf = (id: string, tokens_per_second: number, fields: Partial<BenchmarkCurve> = {}): BenchmarkCurve =>
    benchmarkCurve({ id, points: [benchmarkPoint(4, { copies: 2, tokens_per_second })], ...fields });
  const curves = [
    curveOf('first', 1_000),
    curveOf('other type', 2_000, { instance_type: 'ml.g6.xlarge' }),
    curveOf('near', 1_150),
    curveOf('slower', 800),
    curveOf('no result', 100, { result: null }),
  ];
  const { curves: shown } = toBenchmarkResource('dep_1', { benchmark: undefined, otherRequests: null, curves });
  expect(shown.map(({ id, drift }) => [id, drift?.benchmark, drift?.percent])).toEqual([
    ['no result', undefined, undefined],
    ['slower', 'near', -30],
    ['near', undefined, undefined],
    ['other type', undefined, undefined],
    ['first', undefined, undefined],
  ]);
});

test('the newest benchmark says how the requests since compare with its curve', async () => {
  await start(deployment.id);
  const row = await managed.deps.benchmarks.find(deployment.id);
  if (!row) throw new Error('There is no benchmark.');
  const shown = async () => (await retrieveBenchmark(managed.deps, member, deployment.id)).benchmark?.live_drift;
  expect(await shown()).toBeNull();
  const watch = { from: NOW_MS, copies: 1, beyond: 0, is_drifted: false };
  await transact(emulator.database, [managed.deps.benchmarks.toReplace({ ...row, watch })]);
  expect(await shown()).toEqual({ is_drifted: false, notified_at: null, spans_beyond: 0, last_span: null });
  const drifted = {
    ...watch,
    beyond: -3,
    is_drifted: true,
    notified_at: 3_000,
    compared: { benchmark: row.id, until: 2_000, percent: -34 },
  };
  await transact(emulator.database, [managed.deps.benchmarks.toReplace({ ...row, version: row.version + 1, watch: drifted })]);
  expect(await shown()).toEqual({
    is_drifted: true,
    notified_at: 3,
    spans_beyond: -3,
    last_span: { benchmark: row.id, ended_at: 2, percent: -34 },
  });
});

test('a start queues the benchmark and has it run, with the defaults of what was left out', async () => {
  managed.reset();
  const { benchmark, curves } = await start(deployment.id);
  expect(benchmark).toMatchObject({
    status: 'queued',
    generation: 1,
    model: `s3://weights/${organization}/qwen/`,
    runtime: 'vllm-0.27.1',
    instance_type: 'ml.g5.xlarge',
    goals: { ttft_p95_ms: 2_000, inter_token_p95_ms: 100 },
    mix: [{ ...MIX[0], weight: 1 }],
    mix_source: 'given',
    max_concurrency_per_copy: 64,
    budget: '10',
    spent: '0',
    points: [],
    end: null,
    result: null,
    apply: false,
  });
  expect(curves).toEqual([]);
  expect(managed.reconciled).toEqual([deployment.id]);
  const entries = await managed.log(organization, deployment.id);
  expect(entries.find(({ action }) => action === 'benchmark.started')).toMatchObject({
    actor: { id: owner.userId },
    changes: { budget: { from: null, to: '10' } },
  });
  expect(await retrieveBenchmark(managed.deps, member, deployment.id)).toMatchObject({ benchmark: { id: benchmark?.id } });
});

test('an organization runs one benchmark at a time: of starts at the same moment, one wins', async () => {
  const other = await serve({ name: 'other' });
  const starts = await Promise.allSettled([start(deployment.id), start(other.id), start(deployment.id), start(other.id)]);
  const failed = starts.filter((each) => each.status === 'rejected').map((each) => each.reason);
  expect(failed.map(({ status, code }) => [status, code])).toEqual(Array.from({ length: 3 }, () => [409, 'benchmark_running']));
  const [winner] = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value.deployment] : []));
  await expect(start(deployment.id)).rejects.toThrow(`A benchmark of the deployment ${winner} is running`);
  await cancelBenchmark(managed.deps, owner, winner as string);
  expect((await start(other.id)).benchmark?.status).toBe('queued');
});

test('a benchmark of a deployment that is gone does not keep the next one from starting', async () => {
  await start(deployment.id);
  const rows = createRecordTable(emulator.database, emulator.tables.Deployments as string);
  await rows.remove({ account: deployment.id, record: BENCHMARK });
  const other = await serve({ name: 'other' });
  expect((await start(other.id)).benchmark?.status).toBe('queued');
});

test('a cancellation ends it, also for a suspended organization, and a second one changes nothing', async () => {
  await start(deployment.id);
  await managed.suspend(organization);
  const cancelled = await cancelBenchmark(managed.deps, owner, deployment.id);
  expect(cancelled.benchmark).toMatchObject({ status: 'stopped', end: { code: 'cancelled' }, result: null });
  expect(await cancelBenchmark(managed.deps, owner, deployment.id)).toEqual(cancelled);
  const actions = (await managed.log(organization, deployment.id)).map(({ action }) => action);
  expect(actions.toSorted()).toEqual(['benchmark.cancelled', 'benchmark.started', 'deployment.created']);
});

test('a suspended organization starts none', async () => {
  await managed.suspend(organization);
  await expect(start(deployment.id)).rejects.toMatchObject({ status: 403 });
});

test('another organization’s deployment is a 404, and so is a cancellation before the first benchmark', async () => {
  const { owner: stranger } = await managed.newTenant();
  const calls = [
    start(deployment.id, {}, stranger),
    retrieveBenchmark(managed.deps, stranger, deployment.id),
    cancelBenchmark(managed.deps, stranger, deployment.id),
    cancelBenchmark(managed.deps, owner, deployment.id),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ status: 404 });
  expect(await retrieveBenchmark(managed.deps, owner, deployment.id)).toMatchObject({ benchmark: null, curves: [] });
});

test('the lengths of the deployment’s requests in the last 7 days are used if none are given', async () => {
  await expect(start(deployment.id, { mix: undefined })).rejects.toMatchObject({ status: 409, code: 'no_mix' });
  const store = createRequestRowStore(emulator.database, emulator.tables.Observability as string);
  const put = (atMs: number, prompt_tokens: number, completion_tokens: number, facts: object = {}) =>
    store.put(requestRow({ atMs, organization, deployment: deployment.id, prompt_tokens, completion_tokens, ...facts }));
  const day = 86_400_000;
  await put(NOW_MS - 1_000, 1_000, 100);
  await put(NOW_MS - 2_000, 900, 120);
  await put(NOW_MS - day, 40, 10);
  // Too old, of another deployment, of a benchmark, failed, and longer than the deployment takes.
  await put(NOW_MS - 8 * day, 7, 7);
  await put(NOW_MS - 1_000, 7, 7, { deployment: 'dep_other' });
  await put(NOW_MS - 1_000, 7, 7, { key_id: idLike('key', deployment.id) });
  await put(NOW_MS - 1_000, 7, 7, { outcome: 'upstream_failed' });
  await put(NOW_MS - 1_000, 900_000, 7);
  expect((await start(deployment.id, { mix: undefined })).benchmark).toMatchObject({
    mix_source: 'own',
    mix: [
      { prompt_tokens: 950, completion_tokens: 110, weight: 2 },
      { prompt_tokens: 40, completion_tokens: 10, weight: 1 },
    ],
  });
});

test('a validation returns the price and starts nothing', async () => {
  const trial = await startBenchmark(
    managed.deps,
    owner,
    deployment.id,
    NewBenchmark.parse({ budget: '0', mix: MIX, validate_only: true }),
  );
  expect(trial).toBeInstanceOf(Trial);
  // $1.41 an hour, for 150 s and for 90 minutes.
  expect((trial as unknown as Trial).body as BenchmarkEstimate).toMatchObject({
    price_per_hour: '1.41',
    least_budget: '0.05875',
    most_cost: '2.115',
  });
  expect((await retrieveBenchmark(managed.deps, owner, deployment.id)).benchmark).toBeNull();
});

test('rejects a budget below the price of a level, and lengths that the deployment does not take', async () => {
  await expect(start(deployment.id, { budget: '0.05' })).rejects.toThrow('Invalid value for \'budget\': expected at least "0.05875"');
  const tooLong = [{ prompt_tokens: 10, completion_tokens: 900_000 }];
  await expect(start(deployment.id, { mix: tooLong })).rejects.toMatchObject({ status: 400, param: 'mix[0].completion_tokens' });
  await expect(start(deployment.id, { mix: [{ prompt_tokens: 900_000, completion_tokens: 1 }] })).rejects.toMatchObject({
    param: 'mix[0]',
  });
});

test.each<[string, (before: Deployment) => Partial<Deployment>, string]>([
  ['sleeps', () => ({ state: 'scaled_to_zero' }), 'deployment_not_ready'],
  ['is being stopped', () => ({ state: 'stopping', wanted: 'stopped' }), 'deployment_not_ready'],
  [
    'is being rolled out',
    ({ generations: [first] }) => ({ generations: [first, { ...first, number: 2 }] as Deployment['generations'] }),
    'rollout_unfinished',
  ],
  ['makes embeddings', ({ serving }) => ({ serving: { ...serving, task: 'embed' } }), 'benchmark_needs_text'],
])('a deployment that %s is not measured', async (_, change, code) => {
  const { id } = await serve({ name: 'other' }, change);
  await expect(start(id)).rejects.toMatchObject({ status: 409, code });
});

test.each<[string, string, (before: Deployment) => Partial<Deployment>]>([
  ['deleted', 'deployment_deleted', () => ({ wanted: 'deleted' })],
  ['stopped', 'deployment_not_ready', () => ({ wanted: 'stopped' })],
])('a deployment that is %s after the request has read it is not measured', async (_, code, change) => {
  const { prices } = managed.deps.catalogue;
  const catalogue = {
    ...managed.deps.catalogue,
    prices: async (type: string) => {
      await managed.observe(deployment.id, (before) => ({ ...before, ...change(before) }));
      return prices(type);
    },
  };
  const parsed = NewBenchmark.parse({ budget: '10', mix: MIX });
  await expect(startBenchmark({ ...managed.deps, catalogue }, owner, deployment.id, parsed)).rejects.toMatchObject({ status: 409, code });
  expect(await managed.deps.benchmarks.find(deployment.id)).toBeUndefined();
  await expect(start(deployment.id)).rejects.toMatchObject({ status: 409, code });
});

test('counts the requests of others in the same minutes', async () => {
  await start(deployment.id);
  const row = await managed.deps.benchmarks.find(deployment.id);
  if (!row) throw new Error('There is no benchmark.');
  const minute = Math.floor(NOW_MS / 60_000) * 60_000;
  await transact(emulator.database, [managed.deps.benchmarks.toReplace({ ...row, started_at: minute + 1, ended_at: minute + 60_001 })]);
  const totals = createOrganizationTotalsStore(emulator.database, emulator.tables.Usage as string);
  const put = (startMs: number, keyId: string, requests: number) => {
    const names = {
      organization,
      span: 'minute' as const,
      detail: 'key' as const,
      startMs,
      model: 'qwen',
      route: '/v1',
      keyId,
      shard: keyId,
    };
    return totals.put({ ...names, deployment: deployment.id, totals: { ...noTotals(), requests } });
  };
  await put(minute, 'key_0123456789abcdefgh', 3);
  await put(minute + 60_000, 'key_0123456789abcdefgh', 4);
  await put(minute, idLike('key', deployment.id), 500);
  await put(minute + 120_000, 'key_0123456789abcdefgh', 90);
  const later = { ...owner, origin: { ...owner.origin, nowMs: NOW_MS + 180_000 } };
  expect((await retrieveBenchmark(managed.deps, later, deployment.id)).benchmark?.other_requests).toBe(7);
  const muchLater = { ...owner, origin: { ...owner.origin, nowMs: NOW_MS + 7 * 86_400_000 } };
  expect((await retrieveBenchmark(managed.deps, muchLater, deployment.id)).benchmark?.other_requests).toBeNull();
});
