import {
  CreateEndpointCommand,
  CreateEndpointConfigCommand,
  CreateInferenceComponentCommand,
  CreateModelCommand,
  DeleteEndpointCommand,
  DeleteEndpointConfigCommand,
  DeleteInferenceComponentCommand,
  DeleteModelCommand,
  DescribeEndpointConfigCommand,
  DescribeModelCommand,
  UpdateEndpointCommand,
} from '@aws-sdk/client-sagemaker';
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
  ROLE,
  scaledVariant,
  setCopies,
  VARIANT,
} from '../deployment.ts';

let plane: ControlPlane;
beforeEach(() => {
  plane = createControlPlane();
});

const arn = (kind: string, name: string): string => `arn:aws:sagemaker:us-east-1:000000000000:${kind}/${name}`;
const refusal = (message: string, name = 'ValidationException') => ({ name, message });
const createModel = (ModelName: string) => plane.sagemaker.send(new CreateModelCommand({ ModelName, ExecutionRoleArn: ROLE }));
const createConfig = (EndpointConfigName: string, variant = scaledVariant('ml.g5.xlarge')) =>
  plane.sagemaker.send(new CreateEndpointConfigCommand({ EndpointConfigName, ExecutionRoleArn: ROLE, ProductionVariants: [variant] }));
const createEndpoint = (EndpointName: string, EndpointConfigName = EndpointName) =>
  plane.sagemaker.send(new CreateEndpointCommand({ EndpointName, EndpointConfigName }));
const deleteEndpoint = (EndpointName: string) => plane.sagemaker.send(new DeleteEndpointCommand({ EndpointName }));
const deleteComponent = (InferenceComponentName: string) =>
  plane.sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName }));

test('what does not exist could not be found', async () => {
  const { sagemaker } = plane;
  await expect(endpointOf(plane, 'x')).rejects.toMatchObject(refusal(`Could not find endpoint "${arn('endpoint', 'x')}".`));
  await expect(componentOf(plane, 'x')).rejects.toMatchObject(
    refusal(`Could not find inference component "${arn('inference-component', 'x')}".`),
  );
  await expect(sagemaker.send(new DescribeModelCommand({ ModelName: 'x' }))).rejects.toMatchObject(
    refusal(`Could not find model "${arn('model', 'x')}".`),
  );
  for (const command of [
    new DescribeEndpointConfigCommand({ EndpointConfigName: 'x' }),
    new DeleteEndpointConfigCommand({ EndpointConfigName: 'x' }),
  ])
    await expect(sagemaker.send(command as DeleteEndpointConfigCommand)).rejects.toMatchObject(
      refusal(`Could not find endpoint configuration "${arn('endpoint-config', 'x')}".`),
    );
  await expect(createEndpoint('x')).rejects.toMatchObject({ message: expect.stringMatching(/^Could not find endpoint configuration/) });
  await expect(createComponent(plane, 'x')).rejects.toMatchObject({ message: expect.stringMatching(/^Could not find endpoint "/) });
  await expect(deleteEndpoint('x')).rejects.toMatchObject({ message: expect.stringMatching(/^Could not find endpoint/) });
});

test('what exists is not created again, without regard to case', async () => {
  await deploy(plane, 'a');
  await expect(createModel('A')).rejects.toMatchObject(refusal(`Cannot create already existing model "${arn('model', 'A')}".`));
  await expect(createConfig('a')).rejects.toMatchObject(
    refusal(`Cannot create already existing endpoint configuration "${arn('endpoint-config', 'a')}".`),
  );
  await expect(createEndpoint('a')).rejects.toMatchObject(refusal(`Cannot create already existing endpoint "${arn('endpoint', 'a')}".`));
  await expect(createComponent(plane, 'a')).rejects.toMatchObject(
    refusal(`Cannot create already existing inference component "${arn('inference-component', 'a')}".`),
  );
  expect(plane.account.proof().created).toEqual({ 'model/a': 1, 'endpoint-config/a': 1, 'endpoint/a': 1, 'inference-component/a': 1 });
});

test('a name has at most 63 letters, digits and hyphens', async () => {
  await createModel('m'.repeat(63));
  for (const name of ['m'.repeat(64), 'under_score', '-a', 'a-', 'a--b-'])
    await expect(createModel(name)).rejects.toMatchObject({ name: 'ValidationException' });
});

describe('while it is busy', () => {
  test('an endpoint is neither updated nor deleted, and gets no component', async () => {
    await createEmptyEndpoint(plane, 'a');
    const inProgress = refusal(`Cannot update in-progress endpoint "${arn('endpoint', 'a')}".`);
    await expect(deleteEndpoint('a')).rejects.toMatchObject(inProgress);
    await expect(plane.sagemaker.send(new UpdateEndpointCommand({ EndpointName: 'a', EndpointConfigName: 'a' }))).rejects.toMatchObject(
      inProgress,
    );
    await expect(createComponent(plane, 'a')).rejects.toThrow('while it is in state Creating');
    plane.advance(ENOUGH_MS);
    await deleteEndpoint('a');
    await expect(deleteEndpoint('a')).rejects.toMatchObject(inProgress);
  });

  test('a component is neither scaled nor deleted', async () => {
    await createEmptyEndpoint(plane, 'a');
    plane.advance(ENOUGH_MS);
    await createComponent(plane, 'a');
    await expect(deleteComponent('a')).rejects.toMatchObject(
      refusal(`Cannot delete inference component "${arn('inference-component', 'a')}" while it is in state CREATE_IN_PROGRESS.`),
    );
    await expect(setCopies(plane, 'a', 0)).rejects.toThrow('while it is in state CREATE_IN_PROGRESS');
    plane.advance(2 * ENOUGH_MS);
    await setCopies(plane, 'a', 2);
    await expect(setCopies(plane, 'a', 1)).rejects.toThrow('while it is in state UPDATE_IN_PROGRESS');
    plane.advance(2 * ENOUGH_MS);
    await deleteComponent('a');
    await expect(deleteComponent('a')).rejects.toThrow('while it is in state DELETE_IN_PROGRESS');
  });
});

test('a component is created with at least one copy that fits, and can have none later', async () => {
  await createEmptyEndpoint(plane, 'a');
  plane.advance(ENOUGH_MS);
  await expect(createComponent(plane, 'a', 0)).rejects.toThrow('must be at least 1');
  const large = { ModelName: 'a', ComputeResourceRequirements: { NumberOfAcceleratorDevicesRequired: 1, MinMemoryRequiredInMb: 4_096 } };
  await expect(createComponent(plane, 'a', 1, large)).rejects.toThrow(
    /^There is not enough hardware resources on the instances for this endpoint/,
  );
  await expect(createComponent(plane, 'a', 1, oneGpu('missing'))).rejects.toThrow('Could not find model');
  await createComponent(plane, 'a');
  plane.advance(ENOUGH_MS);
  await setCopies(plane, 'a', 0);
});

test('a variant with instance pools needs a specification for each instance type', async () => {
  await createEmptyEndpoint(plane, 'a', scaledVariant(['ml.g5.xlarge', 'ml.g6.xlarge']));
  plane.advance(ENOUGH_MS);
  await expect(createComponent(plane, 'a')).rejects.toThrow('Use Specifications');
  const create = (types: readonly ('ml.g5.xlarge' | 'ml.g6.xlarge')[]) =>
    plane.sagemaker.send(
      new CreateInferenceComponentCommand({
        InferenceComponentName: 'a',
        EndpointName: 'a',
        VariantName: VARIANT,
        Specifications: types.map((InstanceType) => ({ InstanceType, ...oneGpu('a') })),
        RuntimeConfig: { CopyCount: 1 },
      }),
    );
  await expect(create(['ml.g5.xlarge'])).rejects.toThrow('There is no specification for the instance type ml.g6.xlarge.');
  await create(['ml.g5.xlarge', 'ml.g6.xlarge']);
});

test('a region may refuse endpoints that scale to zero instances', async () => {
  plane.account.configure({ allows_zero_instances: false });
  await expect(createConfig('a')).rejects.toThrow('MinInstanceCount must be greater than or equal to 1');
  await createConfig('a', scaledVariant('ml.g5.xlarge', 2, 1));
});

test('an unknown instance type and a missing role are refused', async () => {
  await expect(createConfig('a', scaledVariant('g5.xlarge'))).rejects.toThrow(
    'failed to satisfy constraint: Member must satisfy enum value set',
  );
  const variants = [scaledVariant('ml.g5.xlarge')];
  await expect(
    plane.sagemaker.send(new CreateEndpointConfigCommand({ EndpointConfigName: 'a', ProductionVariants: variants })),
  ).rejects.toThrow('ExecutionRoleArn is required');
});

test('a quota refuses an endpoint beyond it, and another instance type is not affected', async () => {
  plane.account.configure({ quotas: { 'ml.g5.xlarge': 1 } });
  await createEmptyEndpoint(plane, 'a');
  await createConfig('b');
  await expect(createEndpoint('b')).rejects.toMatchObject(
    refusal(
      "The account-level service limit 'ml.g5.xlarge for endpoint usage' is 1 Instances, with current utilization of 1 Instances and a request delta of 1 Instances. Please use AWS Service Quotas to request an increase for this quota. If AWS Service Quotas is not available, contact AWS support to request an increase for this quota.",
      'ResourceLimitExceeded',
    ),
  );
  await createConfig('c', scaledVariant('ml.g6.xlarge'));
  await createEndpoint('c');
});

test('a model and a configuration can be deleted while they are used; a later copy then fails', async () => {
  await deploy(plane, 'a');
  await plane.sagemaker.send(new DeleteModelCommand({ ModelName: 'a' }));
  await plane.sagemaker.send(new DeleteEndpointConfigCommand({ EndpointConfigName: 'a' }));
  expect((await componentOf(plane, 'a')).InferenceComponentStatus).toBe('InService');
  await setCopies(plane, 'a', 0);
  plane.advance(1_000);
  await setCopies(plane, 'a', 1);
  expect(await componentOf(plane, 'a')).toMatchObject({
    InferenceComponentStatus: 'Failed',
    FailureReason: expect.stringMatching(/^Could not find the model/),
  });
});
