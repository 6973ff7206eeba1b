import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { CreateInferenceComponentCommand, DeleteEndpointCommand, DeleteInferenceComponentCommand } from '@aws-sdk/client-sagemaker';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type ControlPlane, createControlPlane } from '../../../../support/emulators/sagemaker-control-plane.ts';
import {
  componentOf,
  createComponent,
  createEmptyEndpoint,
  deploy,
  ENOUGH_MS,
  endpointOf,
  oneGpu,
  scaledVariant,
  setCopies,
  VARIANT,
} from '../deployment.ts';

let plane: ControlPlane;
beforeEach(() => {
  plane = createControlPlane();
});

const CAPACITY = /^Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error/;
const logsOf = (component: string) =>
  plane.logs.send(new FilterLogEventsCommand({ logGroupName: `/aws/sagemaker/InferenceComponents/${component}` }));
const noLogGroup = { name: 'ResourceNotFoundException', message: 'The specified log group does not exist.' };

describe('without capacity', () => {
  test('an endpoint fails after a while, and can be deleted', async () => {
    plane.account.configure({ faults: [{ kind: 'insufficient_capacity', name: 'a' }] });
    await createEmptyEndpoint(plane, 'a');
    plane.advance(1_999);
    expect((await endpointOf(plane, 'a')).EndpointStatus).toBe('Creating');
    plane.advance(1);
    expect(await endpointOf(plane, 'a')).toMatchObject({ EndpointStatus: 'Failed', FailureReason: expect.stringMatching(CAPACITY) });
    expect(plane.account.proof().instance_seconds).toEqual({});
    await plane.sagemaker.send(new DeleteEndpointCommand({ EndpointName: 'a' }));
  });

  test('the next pool provides the instance, by priority', async () => {
    plane.account.configure({ faults: [{ kind: 'insufficient_capacity', instance_type: 'ml.g5.xlarge' }] });
    await createEmptyEndpoint(plane, 'a', scaledVariant(['ml.g5.xlarge', 'ml.g6.xlarge']));
    plane.advance(2 * ENOUGH_MS);
    expect((await endpointOf(plane, 'a')).ProductionVariants?.[0]?.InstancePools).toEqual([
      { InstanceType: 'ml.g5.xlarge', CurrentInstanceCount: 0 },
      { InstanceType: 'ml.g6.xlarge', CurrentInstanceCount: 1 },
    ]);
    await plane.sagemaker.send(
      new CreateInferenceComponentCommand({
        InferenceComponentName: 'a',
        EndpointName: 'a',
        VariantName: VARIANT,
        Specifications: [
          { InstanceType: 'ml.g5.xlarge', ...oneGpu('a') },
          { InstanceType: 'ml.g6.xlarge', ...oneGpu('a') },
        ],
        RuntimeConfig: { CopyCount: 1 },
      }),
    );
    plane.advance(ENOUGH_MS);
    expect((await componentOf(plane, 'a')).RuntimeConfig?.PlacementStatus).toEqual([{ InstanceType: 'ml.g6.xlarge', CurrentCopyCount: 1 }]);
    expect(plane.account.proof().instance_seconds).toEqual({ 'ml.g6.xlarge': 2 });
  });

  test('a component that is woken fails, and can be woken again', async () => {
    await deploy(plane, 'a');
    await setCopies(plane, 'a', 0);
    plane.advance(10_000);
    plane.account.configure({ faults: [{ kind: 'insufficient_capacity', times: 1 }] });
    await setCopies(plane, 'a', 1);
    plane.advance(2_000);
    expect(await componentOf(plane, 'a')).toMatchObject({
      InferenceComponentStatus: 'Failed',
      FailureReason: expect.stringMatching(CAPACITY),
    });
    expect(plane.account.settings().faults).toEqual([]);
    await setCopies(plane, 'a', 1);
    plane.advance(2 * ENOUGH_MS);
    expect(await componentOf(plane, 'a')).toMatchObject({ InferenceComponentStatus: 'InService', RuntimeConfig: { CurrentCopyCount: 1 } });
    expect((await componentOf(plane, 'a')).FailureReason).toBeUndefined();
  });

  test('a component with a copy goes on with it', async () => {
    await deploy(plane, 'a');
    plane.account.configure({ faults: [{ kind: 'insufficient_capacity' }] });
    await setCopies(plane, 'a', 2);
    plane.advance(2_000);
    expect(await componentOf(plane, 'a')).toMatchObject({
      InferenceComponentStatus: 'InService',
      FailureReason: expect.stringMatching(CAPACITY),
      RuntimeConfig: { CurrentCopyCount: 1, DesiredCopyCount: 1 },
    });
  });

  test('a quota counts as no capacity for further instances', async () => {
    plane.account.configure({ quotas: { 'ml.g5.xlarge': 1 } });
    await deploy(plane, 'a');
    await setCopies(plane, 'a', 2);
    plane.advance(2_000);
    expect((await componentOf(plane, 'a')).FailureReason).toMatch(/^ResourceLimitExceeded: The account-level service limit/);
  });
});

describe('a container', () => {
  const start = async (kind: 'image_pull' | 'crash_loop' | 'health_check_timeout' | 'stuck'): Promise<void> => {
    await createEmptyEndpoint(plane, 'a');
    plane.advance(ENOUGH_MS);
    plane.account.configure({ faults: [{ kind, name: 'a' }] });
    await createComponent(plane, 'a');
  };
  const failed = (reason: RegExp) => ({ InferenceComponentStatus: 'Failed', FailureReason: expect.stringMatching(reason) });

  test('fails without a log group if it cannot start', async () => {
    await start('image_pull');
    plane.advance(ENOUGH_MS);
    expect(await componentOf(plane, 'a')).toMatchObject(failed(/^CannotStartContainerError/));
    await expect(logsOf('a')).rejects.toMatchObject(noLogGroup);
  });

  test('writes its lines again and again while it crashes, and its component looks as if being created', async () => {
    await start('crash_loop');
    plane.advance(4_000);
    expect((await componentOf(plane, 'a')).InferenceComponentStatus).toBe('Creating');
    const lines = (await logsOf('a')).events?.map(({ message }) => message) ?? [];
    expect(lines.filter((line) => line === 'Traceback (most recent call last):')).toHaveLength(3);
    expect(lines.filter((line) => line?.includes('Starting to load model'))).toHaveLength(4);
    expect(lines.some((line) => line?.includes('Application startup complete'))).toBe(false);
    plane.advance(60_000);
    expect(await componentOf(plane, 'a')).toMatchObject(failed(/^Container failed to start/));
  });

  test('fails its health check, with its log, if it never becomes healthy', async () => {
    await start('health_check_timeout');
    plane.advance(5_999);
    expect((await componentOf(plane, 'a')).InferenceComponentStatus).toBe('Creating');
    plane.advance(1);
    expect(await componentOf(plane, 'a')).toMatchObject(failed(/^Failed to pass ping health check/));
    expect((await logsOf('a')).events).not.toEqual([]);
  });

  test('stays in Creating without a log if it is stuck, until SageMaker gives up; then it can be deleted', async () => {
    await start('stuck');
    plane.advance(59_999);
    expect((await componentOf(plane, 'a')).InferenceComponentStatus).toBe('Creating');
    await expect(logsOf('a')).rejects.toMatchObject(noLogGroup);
    plane.advance(1);
    expect(await componentOf(plane, 'a')).toMatchObject(failed(/./));
    await plane.sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName: 'a' }));
    plane.advance(1_000);
    expect(plane.account.proof().inference_components).toEqual([]);
  });

  test('says in its log that it has started well, and the log group outlives the component', async () => {
    await deploy(plane, 'a');
    await plane.sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName: 'a' }));
    plane.advance(1_000);
    expect((await logsOf('a')).events?.at(-1)?.message).toContain('Application startup complete');
  });
});

describe('calls', () => {
  test('are throttled, refused as busy or over quota, or fail, as often as set', async () => {
    await deploy(plane, 'a');
    const faultOf = async (kind: 'throttling' | 'busy' | 'quota' | 'service_unavailable' | 'internal_failure') => {
      plane.account.configure({ faults: [{ kind, operation: 'Describe*Component', name: 'a', times: 1 }] });
      const error = await componentOf(plane, 'a').catch((reason) => reason);
      expect((await componentOf(plane, 'a')).InferenceComponentStatus).toBe('InService');
      return [error.name, error.$metadata.httpStatusCode];
    };
    expect(await faultOf('throttling')).toEqual(['ThrottlingException', 400]);
    expect(await faultOf('busy')).toEqual(['ValidationException', 400]);
    expect(await faultOf('quota')).toEqual(['ResourceLimitExceeded', 400]);
    expect(await faultOf('service_unavailable')).toEqual(['ServiceUnavailable', 503]);
    expect(await faultOf('internal_failure')).toEqual(['InternalFailure', 500]);
  });

  test('whose reply is lost are executed', async () => {
    await deploy(plane, 'a');
    plane.account.configure({ faults: [{ kind: 'lost_reply', operation: 'UpdateInferenceComponentRuntimeConfig' }] });
    await expect(setCopies(plane, 'a', 0)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await componentOf(plane, 'a')).RuntimeConfig?.DesiredCopyCount).toBe(0);
  });

  test('are executed or not, as a test decides for each', async () => {
    const fates = ['fail_before', 'lose_reply', 500] as const;
    const { account, sagemaker, calls } = createControlPlane({ fateOf: ({ index }) => fates[index] ?? 'succeed' });
    const create = () => createEmptyEndpoint({ ...plane, sagemaker }, 'a');
    await expect(create()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(account.proof().models).toEqual([]);
    await expect(create()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(account.proof().models).toEqual(['a']);
    await expect(create()).rejects.toMatchObject({ name: 'InternalFailure' });
    await expect(create()).rejects.toThrow('Cannot create already existing model');
    expect(calls.map(({ operation }) => operation)).toEqual(Array(4).fill('CreateModel'));
  });
});

test('an account is idle except while it has an endpoint or deletes one', async () => {
  expect(plane.account.isIdle()).toBe(true);
  await createEmptyEndpoint(plane, 'a');
  expect(plane.account.isIdle()).toBe(false);
  plane.advance(2 * ENOUGH_MS);
  expect(plane.account.isIdle()).toBe(false);
  await plane.sagemaker.send(new DeleteEndpointCommand({ EndpointName: 'a' }));
  expect(plane.account.isIdle()).toBe(false);
  plane.advance(2 * ENOUGH_MS);
  expect(plane.account.isIdle()).toBe(true);
});
