import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DeploymentBenchmark } from '../../../functions/control/deployments/benchmark/benchmark-resource.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { idLike } from '../../../shared/ids/id.ts';
import type { Control } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { deploymentRun, setTransitions, uploadWeights } from './run.ts';

const TIMES = { instance_ms: 100, download_ms: 100, load_ms: 100, release_ms: 100 };
// A step of c requests takes 20 + 15 c ms, so that 6 meet the goal between two tokens, and 7 miss it.
const BATCH = { step_ms: 20, step_ms_per_sequence: 15, prefill_ms_per_1000_tokens: 0, max_sequences: 64 };
const GOALS = { ttft_p95_ms: 20_000, inter_token_p95_ms: 115 };
const KNEE = 6;
const TIMEOUT_MS = 240_000;

let run: TestRun;
let control: Control;
let token: string;
let id: string;
// The URLs of the deployment's containers.
let urls: string[] = [];
const setContainers = async (method: 'PUT' | 'DELETE', settings?: object): Promise<void> => {
  for (const url of urls) await fetch(`${url}/control`, { method, ...(settings && { body: JSON.stringify(settings) }) });
};

const path = () => `/v1/deployments/${id}/benchmark`;
const read = (): Promise<DeploymentBenchmark> => control.done('GET', path(), { token });
const ended = async (): Promise<DeploymentBenchmark> => {
  await eventually(async () => (await read()).benchmark?.end !== null, 'the benchmark has ended', TIMEOUT_MS);
  return read();
};

describe('a benchmark', () => {
  beforeAll(async () => {
    ({ run, control } = await deploymentRun.start());
    await setTransitions(run, TIMES);
    const { id: organization } = await control.createOrganization();
    ({ token } = await control.createUser({ role: 'owner', organization }));
    const body = { name: 'tiny', ...(await uploadWeights(run, organization)) };
    ({ id } = await control.done('POST', '/v1/deployments', { token, body }));
    const deployments = createDeploymentStore(createRecordTable(run.database, run.tables.Deployments as string));
    await eventually(async () => (await deployments.find(id))?.state === 'in_service', 'the deployment is in service');
    urls = (await (await fetch(`${run.sagemaker_url}/control/containers`)).json()) as string[];
    await setContainers('PUT', { batch: BATCH });
  });
  afterAll(async () => {
    await setContainers('DELETE');
    // The instances that an account may have are for other parts.
    await control.done('DELETE', `/v1/deployments/${id}`, { token });
  });

  test('finds the knee of the container, applies it and keeps its curve', async () => {
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

  test('ends within seconds if it is cancelled, and another one can begin', async () => {
    const body = { budget: '5', mix: [{ prompt_tokens: 60, completion_tokens: 200 }] };
    const first = (await control.done('POST', path(), { token, body })).benchmark;
    await eventually(async () => (await read()).benchmark?.status === 'running', 'the benchmark runs');
    expect(await control.done('POST', `${path()}/cancel`, { token })).toMatchObject({
      benchmark: { status: 'stopped', end: { code: 'cancelled' } },
    });
    await eventually(async () => (await run.logOf('benchmark')).includes('"status":"running","levels":0'), 'its function has ended');
    const next = (await control.done('POST', path(), { token, body })).benchmark;
    expect(next.id).not.toBe(first.id);
    // It may run before the reply is made.
    expect(['queued', 'running']).toContain(next.status);
    await control.done('POST', `${path()}/cancel`, { token });
  });
});
