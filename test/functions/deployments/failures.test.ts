import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MeteringFailed } from '../../../functions/deployments/gpu-time/gpu-time.ts';
import { type ReasonCode, reasonCodes, reasonOfFailure, reasonOfRejection } from '../../../functions/deployments/reasons.ts';
import type { DeploymentSettingsInput } from '../../../infra/local/sagemaker/control-plane/settings.ts';
import { type Deployment, type Generation, inState } from '../../../shared/deployments/deployment.ts';
import { WEEKDAYS } from '../../../shared/deployments/schedule.ts';
import { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { Model } from '../../../shared/models/model.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newDeployment } from '../../support/fixtures/deployments.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { createWorld, INSTALLATION, type World } from './world.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const withGeneration = (fields: Partial<Deployment['generations'][number]>): Partial<Deployment> => {
  const [generation] = newDeployment({ organization: 'org_1' }).generations;
  return { generations: [{ ...(generation as Deployment['generations'][number]), created_at: 0, ...fields }] };
};

const nothingLeft = ({ plane }: World): boolean => {
  const { models, endpoint_configs, endpoints, inference_components, scalable_targets } = plane.account.proof();
  return [models, endpoint_configs, endpoints, inference_components, scalable_targets].every(({ length }) => length === 0);
};

interface Failure {
  code: ReasonCode;
  settings?: DeploymentSettingsInput;
  fields?: Partial<Deployment>;
  aws?: RegExp;
  /** How long it takes at most. Default: five minutes. */
  withinMs?: number;
  /** How long the removal takes at most: SageMaker deletes no component that it is creating. Default: five minutes. */
  removedWithinMs?: number;
  /** How far apart passes are at least. */
  stepMs?: number;
}

// Each has SageMaker’s behaviour when a deployment is created, and the state that its owner then sees.
const failures: Record<string, Failure> = {
  'no instance is free': {
    code: 'insufficient_capacity',
    settings: { faults: [{ kind: 'insufficient_capacity' }] },
    aws: /Unable to provision/,
  },
  'the quota is used up': { code: 'quota_exceeded', settings: { quotas: { 'ml.g5.xlarge': 0 } }, aws: /service limit/ },
  'a copy needs more accelerators than an instance has': { code: 'not_enough_hardware', fields: withGeneration({ accelerators: 8 }) },
  'the image does not start': { code: 'image_not_started', settings: { faults: [{ kind: 'image_pull' }] } },
  'the container crashes each time, which SageMaker would report much later': {
    code: 'crash_loop',
    settings: { faults: [{ kind: 'crash_loop' }], times: { give_up_ms: 20 * MINUTE_MS } },
    aws: /^ValueError: No available memory for the cache blocks/,
    removedWithinMs: 25 * MINUTE_MS,
    stepMs: 30 * SECOND_MS,
  },
  'the container crashes, and SageMaker notices first': {
    code: 'container_failed',
    settings: { faults: [{ kind: 'crash_loop' }], times: { give_up_ms: 2_000, crash_ms: HOUR_MS } },
  },
  'the container never becomes healthy': { code: 'health_check_failed', settings: { faults: [{ kind: 'health_check_timeout' }] } },
  'SageMaker gives no reason': { code: 'failed_on_aws', settings: { faults: [{ kind: 'stuck' }] } },
  'the start never ends': {
    code: 'start_timed_out',
    settings: { faults: [{ kind: 'stuck' }], times: { give_up_ms: 3 * HOUR_MS } },
    withinMs: 155 * MINUTE_MS,
    removedWithinMs: 35 * MINUTE_MS,
    stepMs: 2.5 * MINUTE_MS,
  },
  'the region needs an instance at all times': { code: 'scale_to_zero_unsupported', settings: { allows_zero_instances: false } },
  'SageMaker does not know the instance type': {
    code: 'rejected_by_aws',
    fields: withGeneration({ instance_types: ['ml.unknown'] }),
    aws: /failed to satisfy constraint/,
  },
};

const seen = new Set<string>();

// A reason says what is wrong and what to do, and names nothing of the account.
const expectReason = ({ reason }: Pick<Deployment, 'reason'>, code: ReasonCode, aws?: RegExp): void => {
  expect(reason).toMatchObject({ code, message: expect.stringMatching(/\.$/), action: expect.stringMatching(/\.$/) });
  if (aws) expect(reason?.aws).toMatch(aws);
  expect(reason?.aws ?? '').not.toMatch(/arn:|\d{12}|https?:/);
  seen.add(code);
};

describe('a deployment fails, is removed from AWS, and says why and what to do, if', () => {
  test.each(Object.entries(failures))(
    '%s',
    async (_, { code, settings = {}, fields = {}, aws, withinMs = 5 * MINUTE_MS, removedWithinMs = 5 * MINUTE_MS, stepMs }) => {
      const world = await createWorld(database, fields, { settings });
      await world.pass();
      const row = await world.run(withinMs, stepMs);
      expect(row).toMatchObject({ state: 'failed', generations: [{ status: 'failed' }], progress: { ready: 0 } });
      expectReason(row, code, aws);
      await world.run(removedWithinMs, stepMs);
      expect(nothingLeft(world)).toBe(true);
      expect(await world.model()).toMatchObject({ deployment: { is_ready: false } });
      expect(await world.pass()).toBe('settled');
    },
  );

  test('its model is on the Hub, which the deployer does not allow any more', async () => {
    const world = await createWorld(database, withGeneration({ model: 'Qwen/Qwen3-8B' }));
    const { hubExecutionRoleArn: _, ...installation } = INSTALLATION;
    world.dependencies.aws.installation = installation;
    await world.pass();
    const row = await world.run(MINUTE_MS);
    expect(row.state).toBe('failed');
    expectReason(row, 'hub_not_allowed');
    expect(world.plane.account.proof().created).toEqual({});
  });

  test('a model that was registered by hand has its name, and leaves that model alone', async () => {
    const world = await createWorld(database);
    const model = Model.parse({
      name: 'qwen3-8b',
      status: 'published',
      created: 1,
      context_length: 8_192,
      max_output_tokens: 1_024,
      default_output_tokens: 512,
      targets: [{ endpoint: 'made-by-hand' }],
      prices: [{ version: 'price_1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    });
    await database.models.put(world.organization, model);
    await world.pass();
    const row = await world.read();
    expect(row.state).toBe('failed');
    expectReason(row, 'name_in_use');
    expect(nothingLeft(world)).toBe(true);
    expect(await world.model()).toEqual(model);
  });
});

describe('a deployment goes on and says why and what to do, if', () => {
  test('no instance is free for the first ten minutes', async () => {
    const world = await createWorld(database, {}, { settings: { times: { instance_ms: 30 * MINUTE_MS } } });
    await world.pass();
    const row = await world.run(12 * MINUTE_MS);
    expect(row).toMatchObject({ state: 'creating', progress: { pending_capacity: 1, downloading: 0, loading: 0, ready: 0 } });
    expectReason(row, 'insufficient_capacity');
    expect(await world.run(20 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
    expect((await world.read()).reason).toBeUndefined();
  });

  test('its first instance type has no capacity but its second one has', async () => {
    const faults = [{ kind: 'insufficient_capacity' as const, instance_type: 'ml.g6.xlarge' }];
    const world = await createWorld(database, withGeneration({ instance_types: ['ml.g6.xlarge', 'ml.g5.xlarge'] }), {
      settings: { faults },
    });
    await world.pass();
    expect(await world.run(3 * MINUTE_MS)).toMatchObject({ state: 'in_service', progress: { ready: 1 } });
    expect(world.meteredInstances.at(-1)).toEqual([{ generation: 1, instance_type: 'ml.g5.xlarge', instances: 1, phase: 'serving' }]);
  });

  test('the credit runs low; it is stopped once there is none, until its owner starts it', async () => {
    const world = await createWorld(database);
    await world.pass();
    await world.run(2 * MINUTE_MS);
    const { meterPass } = world.dependencies;
    world.dependencies.meterPass = async (look) => ({ ...(await meterPass(look)), warning: 'credit_low' });
    await world.pass();
    const low = await world.read();
    expect(low.state).toBe('in_service');
    expectReason(low, 'credit_low');
    world.dependencies.meterPass = async (look) => ({ ...(await meterPass(look)), stop: 'out_of_credit' });
    await world.pass();
    expect(await world.read()).toMatchObject({ wanted: 'stopped', state: 'stopping' });
    world.dependencies.meterPass = meterPass;
    const stopped = await world.run(5 * MINUTE_MS);
    expect(stopped.state).toBe('stopped');
    expectReason(stopped, 'out_of_credit');
    expect(nothingLeft(world)).toBe(true);
    await world.change({ wanted: 'running' });
    expect(await world.run(3 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
  });

  test('its credit doesn’t pay for a window of its schedule', async () => {
    const world = await createWorld(database, { copies: { min: 1, max: 2 } });
    await world.pass();
    await world.run(2 * MINUTE_MS);
    const { holdStartCredit } = world.dependencies;
    world.dependencies.holdStartCredit = async ({ name }) => {
      throw new OutOfCredit(name, { neededNanos: 2n, availableNanos: 1n });
    };
    const always = { days: [...WEEKDAYS], from: '00:00', to: '24:00', time_zone: 'UTC', min_copies: 2 };
    await world.change({ schedule: [always] });
    await world.pass();
    expectReason(await world.read(), 'window_unpaid');
    world.dependencies.holdStartCredit = holdStartCredit;
    await world.pass();
    expect((await world.read()).reason).toBeUndefined();
  });

  test("its log can't be read", async () => {
    const world = await createWorld(database, {}, { settings: { times: { load_ms: MINUTE_MS } } });
    world.dependencies.aws.log = {
      read: async () => {
        throw Object.assign(new Error('Denied.'), { name: 'AccessDeniedException' });
      },
    };
    await world.pass();
    expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
  });

  // The log of the container has errors of requests.
  const loseCopies = (world: World, generation: number): (() => void) => {
    const { sageMaker, log } = world.dependencies.aws;
    const atMs = world.plane.now();
    const lines = [3, 2, 1].map((i) => ({ atMs: atMs - i * MINUTE_MS, stream: 'one', message: 'ValueError: 1 is not a length.' }));
    world.dependencies.aws.log = { read: async (_, sinceMs) => lines.filter((line) => line.atMs >= sinceMs) };
    const describeComponent: typeof sageMaker.describeComponent = async (name) => {
      const component = await sageMaker.describeComponent(name);
      return component && name.endsWith(`-g${generation}`) ? { ...component, copies: 0 } : component;
    };
    world.dependencies.aws.sageMaker = { ...sageMaker, describeComponent };
    return () => Object.assign(world.dependencies.aws, { sageMaker, log });
  };

  test('AWS replaces the instance of its only copy, whose container has logged errors of requests', async () => {
    const world = await createWorld(database);
    await world.pass();
    await world.run(10 * MINUTE_MS);
    const restore = loseCopies(world, 1);
    await world.pass();
    expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'waking', generations: [{ status: 'ready' }] });
    restore();
    expect(await world.run(MINUTE_MS)).toMatchObject({ state: 'in_service', generations: [{ status: 'ready' }] });
  });

  test('AWS replaces the instance of its next generation, whose container has logged errors of requests', async () => {
    const world = await createWorld(database, { scale_to_zero_after_seconds: null });
    await world.pass();
    await world.run(2 * MINUTE_MS);
    await world.change(({ generations }) => {
      const [first] = generations as [Generation];
      return { generations: [first, { ...first, number: 2, status: 'creating', created_at: world.plane.now() }], traffic_percent: 10 };
    });
    await world.run(10 * MINUTE_MS);
    const restore = loseCopies(world, 2);
    await world.pass();
    const both = { state: 'in_service', generations: [{ status: 'ready' }, { status: 'ready' }] };
    expect(await world.run(2 * MINUTE_MS)).toMatchObject(both);
    restore();
    expect(await world.run(MINUTE_MS)).toMatchObject(both);
  });

  test("the time of its wake can't be recorded", async () => {
    const world = await createWorld(database);
    world.dependencies.recordStart = async () => {
      throw new PreconditionFailed();
    };
    await world.pass();
    expect(await world.run(14 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
    await world.change((row) => ({ ...inState(row, 'waking', world.plane.now()), wake: { started_at: world.plane.now() } }));
    await world.pass();
    for (let passes = 0; (await world.read()).state === 'waking'; passes++) {
      if (passes === 20) throw new Error('It was never awake.');
      world.plane.advance(15_000);
      expect(await world.pass()).toBe('done');
    }
    expect(await world.read()).toMatchObject({ state: 'in_service' });
  });

  test("its GPU time can't be metered: it can still be deleted, with its instances", async () => {
    const running = [{ generation: 1, instance_type: 'ml.g5.xlarge', instances: 1, phase: 'serving' as const }];
    const world = await createWorld(database, { meter: { until: 0, running, held_nanos: 1n } });
    await world.pass();
    await world.run(2 * MINUTE_MS);
    const log = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const Item = { usage_bucket: newId('deployment'), usage_event: 'gpu_1' };
    const put = { TableName: database.tables.Usage as string, Item, ConditionExpression: 'attribute_exists(usage_bucket)' };
    world.dependencies.meterPass = async ({ deployment: { meter } }) => ({
      meter,
      writes: [{ item: { Put: put }, refused: () => new MeteringFailed(new Error('It is already metered.')) }],
    });
    await world.change({ wanted: 'deleted' });
    expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted', meter: { running: [], held_nanos: 1n } });
    expect(nothingLeft(world)).toBe(true);
    expect(log.mock.calls.some(([line]) => String(line).includes('gpu_time_not_metered'))).toBe(true);
  });

  test('AWS does not release its instances for an hour after it fell asleep', async () => {
    const settings = { times: { release_ms: 3 * HOUR_MS } };
    const world = await createWorld(database, { scale_to_zero_after_seconds: 300 }, { settings });
    await world.pass();
    await world.run(10 * MINUTE_MS);
    expect(await world.run(50 * MINUTE_MS, 5 * MINUTE_MS)).toMatchObject({ state: 'draining' });
    expect((await world.read()).reason).toBeUndefined();
    expectReason(await world.run(15 * MINUTE_MS, MINUTE_MS), 'instances_not_released');
    expect(await world.run(2 * HOUR_MS, 5 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
    expect((await world.read()).reason).toBeUndefined();
  });

  test('AWS does not remove it for an hour', async () => {
    const world = await createWorld(database);
    await world.pass();
    await world.run(2 * MINUTE_MS);
    world.plane.account.configure({ faults: [{ kind: 'busy', operation: 'DeleteInferenceComponent' }] });
    await world.change({ wanted: 'deleted' });
    const row = await world.run(70 * MINUTE_MS, 5 * MINUTE_MS);
    expect(row.state).toBe('deleting');
    expectReason(row, 'removal_blocked', /^An inference component of generation 1 is InService\.$/);
    world.plane.account.configure({});
    expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
    expect(nothingLeft(world)).toBe(true);
  });

  test('SageMaker creates its component for hours, and deletes none meanwhile', async () => {
    const world = await createWorld(database, {}, { settings: { times: { download_ms: 3 * HOUR_MS } } });
    await world.pass();
    await world.run(2 * MINUTE_MS);
    await world.change((row) => ({ ...inState(row, 'stopping', world.plane.now()), wanted: 'stopped' }));
    const row = await world.run(70 * MINUTE_MS, 5 * MINUTE_MS);
    expectReason(row, 'removal_blocked', /^An inference component of generation 1 is Creating\.$/);
    expect(await world.run(3 * HOUR_MS, 10 * MINUTE_MS)).toMatchObject({ state: 'stopped' });
  });
});

test.each([
  ['Could not download model data from S3: NoSuchKey for s3://bucket/x. Account 123456789012.', 'weights_unreadable'],
  ['The container for production variant AllTraffic exited with code 1.', 'container_failed'],
] as const)('recognizes the failure reason "%s"', (words, code) => {
  expectReason({ reason: reasonOfFailure(words, true) }, code);
});

test('recognizes a denied call, and removes ARNs and account ids from its text', () => {
  const message = 'User: arn:aws:sts::123456789012:assumed-role/x is not authorized to perform: sagemaker:CreateModel';
  const error = Object.assign(new Error(message), { name: 'AccessDeniedException' });
  expectReason({ reason: reasonOfRejection(error) }, 'access_denied', /is not authorized to perform/);
});

test('recognizes a permission that a service of AWS misses when it acts for Sluice', () => {
  const message = 'User is missing the following permissions: sagemaker:UpdateInferenceComponentRuntimeConfig';
  const error = Object.assign(new Error(message), { name: 'ValidationException' });
  expectReason({ reason: reasonOfRejection(error) }, 'access_denied', /^User is missing the following permissions/);
});

test('blames the image if a container writes no line before it fails, and otherwise the container', () => {
  const words = 'CannotStartContainerError. Please ensure the model container starts correctly.';
  expect(reasonOfFailure(words, false).code).toBe('image_not_started');
  expect(reasonOfFailure(words, true).code).toBe('container_failed');
});

test('blames the image for a failure of ECR, and not for a word with its letters', () => {
  const image = '123456789012.dkr.ecr.us-east-1.amazonaws.com/vllm:1';
  expect(reasonOfFailure(`Failed to read the image ${image}.`, false).code).toBe('image_not_started');
  expect(reasonOfFailure('Unable to decrease the number of instances.', false).code).toBe('failed_on_aws');
});

test('every reason is reached by a test, and has an entry in docs/reasons.md', () => {
  // Those of adapters are in adapters/.
  const ofDeployments = reasonCodes.filter((code) => !code.startsWith('adapter_'));
  expect([...seen].sort()).toEqual(ofDeployments.sort());
  const text = readFileSync('docs/reasons.md', 'utf8');
  const entries = [...text.matchAll(/^## `(\w+)`$/gm)].map(([, code]) => code);
  expect(entries.sort()).toEqual([...reasonCodes].sort());
});
