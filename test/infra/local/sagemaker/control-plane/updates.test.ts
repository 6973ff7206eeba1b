import {
  CreateEndpointConfigCommand,
  CreateModelCommand,
  DescribeModelCommand,
  UpdateEndpointCommand,
  UpdateInferenceComponentCommand,
} from '@aws-sdk/client-sagemaker';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type ControlPlane, createControlPlane } from '../../../../support/emulators/sagemaker-control-plane.ts';
import { componentOf, deploy, ENOUGH_MS, endpointOf, oneGpu, ROLE, scaledVariant, setCopies } from '../deployment.ts';

let plane: ControlPlane;
beforeEach(() => {
  plane = createControlPlane();
});

const servedNames = () =>
  plane.account.serving().flatMap(({ revisions }) => revisions.map(({ environment }) => environment.SM_VLLM_SERVED_MODEL_NAME));
const createModel = (ModelName: string) =>
  plane.sagemaker.send(
    new CreateModelCommand({
      ModelName,
      ExecutionRoleArn: ROLE,
      PrimaryContainer: { Image: 'vllm:0.28.0', Environment: { SM_VLLM_SERVED_MODEL_NAME: ModelName } },
    }),
  );
const rollOut = (ModelName: string) =>
  plane.sagemaker.send(
    new UpdateInferenceComponentCommand({
      InferenceComponentName: 'a',
      Specification: oneGpu(ModelName),
      DeploymentConfig: { RollingUpdatePolicy: { MaximumBatchSize: { Type: 'COPY_COUNT', Value: 1 }, WaitIntervalInSeconds: 0 } },
    }),
  );

describe('a new model of a component', () => {
  test('replaces one copy after another, and the component is never without a ready copy', async () => {
    await deploy(plane, 'a');
    await createModel('b');
    await rollOut('b');
    expect(servedNames()).toEqual(['a-served']);
    plane.advance(3_000);
    expect(servedNames()).toEqual(['a-served', 'b']);
    plane.advance(1_000);
    expect(servedNames()).toEqual(['b']);
    plane.advance(1_000);
    const described = await componentOf(plane, 'a');
    expect(described).toMatchObject({ InferenceComponentStatus: 'InService', RuntimeConfig: { CurrentCopyCount: 1 } });
    expect(described.Specification).toMatchObject({ ModelName: 'b', Container: { DeployedImage: { ResolvedImage: 'vllm:0.28.0' } } });
    expect(described.LastDeploymentConfig?.RollingUpdatePolicy?.MaximumBatchSize?.Value).toBe(1);
  });

  test('needs room for one more copy', async () => {
    await deploy(plane, 'a', 1, scaledVariant('ml.g5.xlarge', 1));
    await createModel('b');
    await rollOut('b');
    expect(await componentOf(plane, 'a')).toMatchObject({
      InferenceComponentStatus: 'InService',
      FailureReason: expect.stringMatching(/^There is not enough hardware resources/),
      Specification: { ModelName: 'a' },
    });
  });

  test('leaves the old one if it fails', async () => {
    await deploy(plane, 'a');
    await createModel('b');
    plane.account.configure({ faults: [{ kind: 'image_pull' }] });
    await rollOut('b');
    plane.advance(2 * ENOUGH_MS);
    expect(await componentOf(plane, 'a')).toMatchObject({
      InferenceComponentStatus: 'InService',
      FailureReason: expect.stringMatching(/^CannotStartContainerError/),
      Specification: { ModelName: 'a' },
      RuntimeConfig: { CurrentCopyCount: 1 },
    });
    expect(servedNames()).toEqual(['a-served']);
  });
});

describe('a new configuration of an endpoint', () => {
  const update = async (RetainAllVariantProperties: boolean): Promise<void> => {
    await plane.sagemaker.send(
      new CreateEndpointConfigCommand({
        EndpointConfigName: 'b',
        ExecutionRoleArn: ROLE,
        ProductionVariants: [scaledVariant('ml.g5.xlarge', 3)],
      }),
    );
    await plane.sagemaker.send(new UpdateEndpointCommand({ EndpointName: 'a', EndpointConfigName: 'b', RetainAllVariantProperties }));
    expect((await endpointOf(plane, 'a')).EndpointStatus).toBe('Updating');
    plane.advance(1_000);
    expect(await endpointOf(plane, 'a')).toMatchObject({ EndpointStatus: 'InService', EndpointConfigName: 'b' });
  };
  const instances = async () => (await endpointOf(plane, 'a')).ProductionVariants?.[0]?.CurrentInstanceCount;

  test('keeps the instances if its properties are retained', async () => {
    await deploy(plane, 'a', 2);
    await update(true);
    expect(await instances()).toBe(2);
    await setCopies(plane, 'a', 3);
    plane.advance(2 * ENOUGH_MS);
    expect(await instances()).toBe(3);
  });

  test('goes back to the initial number of instances otherwise, and copies have to start again', async () => {
    await deploy(plane, 'a', 2);
    await update(false);
    expect(await instances()).toBe(1);
    expect((await componentOf(plane, 'a')).RuntimeConfig).toMatchObject({ DesiredCopyCount: 2, CurrentCopyCount: 1 });
    plane.advance(2 * ENOUGH_MS);
    expect((await componentOf(plane, 'a')).RuntimeConfig?.CurrentCopyCount).toBe(2);
  });
});

test('a model is described as it was created', async () => {
  await deploy(plane, 'a');
  expect(await plane.sagemaker.send(new DescribeModelCommand({ ModelName: 'a' }))).toMatchObject({
    ModelName: 'a',
    ModelArn: 'arn:aws:sagemaker:us-east-1:000000000000:model/a',
    ExecutionRoleArn: ROLE,
    PrimaryContainer: { Image: 'vllm:0.27.0', Environment: { SM_VLLM_SERVED_MODEL_NAME: 'a-served' } },
  });
});
