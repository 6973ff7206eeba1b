import { DeleteEndpointCommand, DeleteInferenceComponentCommand } from '@aws-sdk/client-sagemaker';
import { expect, test } from '@jest/globals';
import { createControlPlane } from '../../../../support/emulators/sagemaker-control-plane.ts';
import { componentOf, createComponent, createEmptyEndpoint, deploy, endpointOf, scaledVariant, setCopies } from '../deployment.ts';

const countsOf = async (...[plane, name]: Parameters<typeof componentOf>) => {
  const { InferenceComponentStatus: status, RuntimeConfig } = await componentOf(plane, name);
  return [status, RuntimeConfig?.CurrentCopyCount, RuntimeConfig?.DesiredCopyCount];
};
const instancesOf = async (...[plane, name]: Parameters<typeof endpointOf>) => {
  const [variant] = (await endpointOf(plane, name)).ProductionVariants ?? [];
  return [variant?.CurrentInstanceCount, variant?.DesiredInstanceCount];
};

test('puts an endpoint in service with its instance, a component once its copy is downloaded and loaded', async () => {
  const plane = createControlPlane();
  await createEmptyEndpoint(plane, 'a');
  expect(await endpointOf(plane, 'a')).toMatchObject({
    EndpointStatus: 'Creating',
    ProductionVariants: [{ VariantStatus: [{ Status: 'Creating' }] }],
  });
  expect(await instancesOf(plane, 'a')).toEqual([0, 1]);
  plane.advance(1_999);
  expect((await endpointOf(plane, 'a')).EndpointStatus).toBe('Creating');
  plane.advance(1);
  expect((await endpointOf(plane, 'a')).EndpointStatus).toBe('InService');
  expect(await instancesOf(plane, 'a')).toEqual([1, 1]);
  await createComponent(plane, 'a');
  plane.advance(1_999);
  expect(await countsOf(plane, 'a')).toEqual(['Creating', 0, 1]);
  plane.advance(1);
  expect(await countsOf(plane, 'a')).toEqual(['InService', 1, 1]);
  expect((await componentOf(plane, 'a')).RuntimeConfig?.PlacementStatus).toEqual([{ InstanceType: 'ml.g5.xlarge', CurrentCopyCount: 1 }]);
});

test('keeps a component without copies in service, releases its instance, and brings both back for a copy', async () => {
  const plane = createControlPlane();
  await deploy(plane, 'a');
  await setCopies(plane, 'a', 0);
  expect(await countsOf(plane, 'a')).toEqual(['Updating', 0, 0]);
  plane.advance(1_000);
  expect(await countsOf(plane, 'a')).toEqual(['InService', 0, 0]);
  plane.advance(2_999);
  expect(await instancesOf(plane, 'a')).toEqual([1, 1]);
  plane.advance(1);
  expect(await instancesOf(plane, 'a')).toEqual([0, 0]);
  await setCopies(plane, 'a', 1);
  plane.advance(3_999);
  expect(await countsOf(plane, 'a')).toEqual(['Updating', 0, 1]);
  plane.advance(1);
  expect(await countsOf(plane, 'a')).toEqual(['InService', 1, 1]);
  expect(plane.account.proof().created).toEqual({ 'model/a': 1, 'endpoint-config/a': 1, 'endpoint/a': 1, 'inference-component/a': 1 });
});

test('idle instances are released down to the minimum, and a fixed number is kept', async () => {
  const plane = createControlPlane();
  await deploy(plane, 'a', 2, scaledVariant('ml.g5.xlarge', 2, 1));
  await deploy(plane, 'b', 1, { VariantName: 'AllTraffic', InstanceType: 'ml.g6.xlarge', InitialInstanceCount: 2 });
  await setCopies(plane, 'a', 0);
  await setCopies(plane, 'b', 0);
  plane.advance(600_000);
  expect(await instancesOf(plane, 'a')).toEqual([1, 1]);
  expect(await instancesOf(plane, 'b')).toEqual([2, 2]);
});

test('several copies get an instance each, provisioned together, up to the most instances', async () => {
  const plane = createControlPlane();
  await deploy(plane, 'a', 1, scaledVariant('ml.g5.xlarge', 3));
  await setCopies(plane, 'a', 3);
  expect(await instancesOf(plane, 'a')).toEqual([1, 3]);
  plane.advance(4_000);
  expect(await countsOf(plane, 'a')).toEqual(['InService', 3, 3]);
  await setCopies(plane, 'a', 4);
  expect(await countsOf(plane, 'a')).toEqual(['InService', 3, 3]);
  expect((await componentOf(plane, 'a')).FailureReason).toMatch(/^There is not enough hardware resources on the instances/);
});

test('copies share an instance with several accelerators', async () => {
  const plane = createControlPlane();
  await deploy(plane, 'a', 4, scaledVariant('ml.g5.12xlarge', 1));
  expect(await countsOf(plane, 'a')).toEqual(['InService', 4, 4]);
});

test('an endpoint is not deleted before its components are gone', async () => {
  const plane = createControlPlane();
  await deploy(plane, 'a');
  const deleteEndpoint = () => plane.sagemaker.send(new DeleteEndpointCommand({ EndpointName: 'a' }));
  const refusal = {
    name: 'ValidationException',
    message: 'Cannot delete endpoint with inference component associated. Please delete inference component and try it again.',
  };
  await expect(deleteEndpoint()).rejects.toMatchObject(refusal);
  expect((await endpointOf(plane, 'a')).EndpointStatus).toBe('InService');
  await plane.sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName: 'a' }));
  await expect(deleteEndpoint()).rejects.toMatchObject(refusal);
  plane.advance(1_000);
  await deleteEndpoint();
  expect((await endpointOf(plane, 'a')).EndpointStatus).toBe('Deleting');
  await expect(createComponent(plane, 'a')).rejects.toThrow('while it is in state Deleting');
  plane.advance(1_000);
  await expect(endpointOf(plane, 'a')).rejects.toThrow('Could not find endpoint "arn:aws:sagemaker:us-east-1:000000000000:endpoint/a".');
  expect(plane.account.proof()).toMatchObject({ endpoints: [], inference_components: [], models: ['a'] });
});

test('the time of instances counts from ready to released, by type', async () => {
  const plane = createControlPlane();
  await deploy(plane, 'a');
  plane.advance(10_000);
  await setCopies(plane, 'a', 0);
  plane.advance(60_000);
  expect(plane.account.proof().instance_seconds).toEqual({ 'ml.g5.xlarge': 4 + 10 + 1 + 3 });
  expect(plane.account.proof().instances).toMatchObject([{ endpoint: 'a', instance_type: 'ml.g5.xlarge', to: expect.any(Number) }]);
});
