import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DeploymentBenchmark } from '../../../functions/control/deployments/benchmark/benchmark-resource.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { idLike } from '../../../shared/ids/id.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';

const TIMES = { instance_ms: 100, download_ms: 100, load_ms: 100, release_ms: 100 };
// A step of c requests takes 20 + 15 c ms, so that 6 meet the goal between two tokens, and 7 miss it.
const BATCH = { step_ms: 20, step_ms_per_sequence: 15, prefill_ms_per_1000_tokens: 0, max_sequences: 64 };
const GOALS = { ttft_p95_ms: 20_000, inter_token_p95_ms: 115 };
const KNEE = 6;
const TIMEOUT_MS = 240_000;

let run: TestRun;
let control: Control;
let s3: S3Client;
let token: string;
let id: string;
beforeAll(async () => {
  run = await startTestRun('--queue-delay-ms', '500', '--batch-window-ms', '1000', '--schedule-ms', '4000');
  await fetch(`${run.sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify({ times: TIMES }) });
  control = controlOf(run);
  s3 = new S3Client({
    region: 'us-east-1',
    endpoint: run.s3_endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const admin = await control.asAdmin();
  await control.done('POST', '/v1/instance-types/ml.g5.xlarge/prices', { token: admin.token, body: { per_hour: '3.60' } });
  const { id: organization } = await control.createOrganization();
  ({ token } = await control.createUser({ role: 'owner', organization }));
  await s3.send(new PutObjectCommand({ Bucket: run.buckets.Weights, Key: `${organization}/tiny/config.json`, Body: '{}' }));
  const body = {
    name: 'tiny',
    model: `s3://${run.buckets.Weights}/${organization}/tiny/`,
    runtime: 'vllm-0.27.1',
    instance_types: ['ml.g5.xlarge'],
  };
  ({ id } = await control.done('POST', '/v1/deployments', { token, body }));
  const deployments = createDeploymentStore(createRecordTable(run.database, run.tables.Deployments as string));
  await eventually(async () => (await deployments.find(id))?.state === 'in_service', 'the deployment is in service');
  const urls = (await (await fetch(`${run.sagemaker_url}/control/containers`)).json()) as string[];
  for (const url of urls) await fetch(`${url}/control`, { method: 'PUT', body: JSON.stringify({ batch: BATCH }) });
});
afterAll(async () => {
  s3.destroy();
  await run.close();
});

const path = () => `/v1/deployments/${id}/benchmark`;
const read = (): Promise<DeploymentBenchmark> => control.done('GET', path(), { token });
const ended = async (): Promise<DeploymentBenchmark> => {
  await eventually(async () => (await read()).benchmark?.end !== null, 'the benchmark has ended', TIMEOUT_MS);
  return read();
};

test('a benchmark finds the knee of the container, applies it and keeps its curve', async () => {
  const body = {
    budget: '5',
    goals: GOALS,
    mix: [{ prompt_tokens: 60, completion_tokens: 6 }],
    max_concurrency_per_copy: 16,
    apply: true,
  };
  const started = await control.done('POST', path(), { token, body });
  expect(started.benchmark).toMatchObject({ points: [], result: null });
  const { benchmark, curves } = await ended();
  expect(benchmark).toMatchObject({ status: 'finished', end: { code: 'goal_missed' }, applied: 'applied', other_requests: 0 });
  // A busy machine makes the container slower, never faster; test/functions/benchmark/knee.test.ts bounds both sides.
  expect(benchmark?.result).toBeLessThanOrEqual(KNEE + 1);
  const good = benchmark?.points.filter(({ meets_goals }) => meets_goals).map(({ concurrency_per_copy }) => concurrency_per_copy) ?? [];
  expect(benchmark?.result).toBe(Math.max(...good));
  process.stderr.write(
    `\nThe benchmark found ${benchmark?.result} requests at the same time, where the container's times predict ${KNEE}.\n`,
  );
  expect(curves).toMatchObject([{ id: benchmark?.id, result: benchmark?.result }]);
  expect(await control.done('GET', `/v1/deployments/${id}`, { token })).toMatchObject({ max_concurrency_per_copy: benchmark?.result });
  const knee = benchmark?.points.find(({ concurrency_per_copy }) => concurrency_per_copy === benchmark.result);
  // The prompts have the lengths of the mix, as the container counts them.
  expect(Math.abs((knee?.prompt_tokens ?? 0) / (knee?.requests ?? 1) - 60)).toBeLessThanOrEqual(6);
  expect(knee?.completion_tokens).toBe((knee?.requests ?? 0) * 6);
  expect(await run.eventsOf(idLike('key', id))).toHaveLength(benchmark?.sent_requests ?? -1);
});

test('a benchmark that is cancelled ends within seconds, and another one can begin', async () => {
  const body = { budget: '5', mix: [{ prompt_tokens: 60, completion_tokens: 200 }] };
  await control.done('POST', path(), { token, body });
  await eventually(async () => (await read()).benchmark?.status === 'running', 'the benchmark runs');
  expect(await control.done('POST', `${path()}/cancel`, { token })).toMatchObject({
    benchmark: { status: 'stopped', end: { code: 'cancelled' } },
  });
  await eventually(async () => (await run.logOf('benchmark')).includes('"status":"running","levels":0'), 'its function has ended');
  expect((await control.done('POST', path(), { token, body })).benchmark.status).toBe('queued');
  await control.done('POST', `${path()}/cancel`, { token });
});
