import { CreateInferenceComponentCommand, CreateModelCommand, DeleteInferenceComponentCommand } from '@aws-sdk/client-sagemaker';
import { beforeEach, expect, test } from '@jest/globals';
import { type ControlPlane, createControlPlane } from '../../../../support/emulators/sagemaker-control-plane.ts';
import { componentOf, createComponent, createEmptyEndpoint, deploy, ENOUGH_MS, oneGpu, ROLE, VARIANT } from '../deployment.ts';

let plane: ControlPlane;
beforeEach(() => {
  plane = createControlPlane();
});

const addAdapter = (specification: object = {}, endpoint = 'a') =>
  plane.sagemaker.send(
    new CreateInferenceComponentCommand({
      InferenceComponentName: 'adapter',
      EndpointName: endpoint,
      VariantName: VARIANT,
      Specification: {
        BaseInferenceComponentName: 'a',
        Container: { ArtifactUrl: 's3://weights/adapter.tar.gz' },
        ...specification,
      },
    }),
  );
const remove = (InferenceComponentName: string) => plane.sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName }));

test('an adapter shares the copies of its base component, which cannot be deleted before it', async () => {
  await deploy(plane, 'a');
  await addAdapter();
  expect((await componentOf(plane, 'adapter')).InferenceComponentStatus).toBe('Creating');
  plane.advance(1_000);
  const described = await componentOf(plane, 'adapter');
  expect(described.InferenceComponentStatus).toBe('InService');
  expect(described.RuntimeConfig).toBeUndefined();
  expect(plane.account.serving()).toMatchObject([
    { component: 'a', server: 'a', artifact: undefined, revisions: [{ readyCopies: 1 }] },
    { component: 'adapter', server: 'a', artifact: 's3://weights/adapter.tar.gz', revisions: [{ readyCopies: 1 }] },
  ]);
  await expect(remove('a')).rejects.toThrow('is a base inference component for one or more associated');
  await remove('adapter');
  plane.advance(1_000);
  await remove('a');
});

test('an adapter needs a base component in service, on its own endpoint, and no hardware of its own', async () => {
  await createEmptyEndpoint(plane, 'a');
  plane.advance(ENOUGH_MS);
  await expect(addAdapter()).rejects.toThrow('Could not find inference component');
  await createComponent(plane, 'a');
  await expect(addAdapter()).rejects.toThrow('while it is in state CREATE_IN_PROGRESS');
  plane.advance(2 * ENOUGH_MS);
  await deploy(plane, 'b');
  await expect(addAdapter({}, 'b')).rejects.toThrow('cannot be the base inference component of an adapter on this endpoint');
  const { ComputeResourceRequirements } = oneGpu('a');
  await expect(addAdapter({ ComputeResourceRequirements })).rejects.toThrow('must not be specified with BaseInferenceComponentName');
  await expect(addAdapter({ Container: {} })).rejects.toThrow('An adapter needs a Container with an ArtifactUrl');
  await addAdapter();
});

test('an adapter fails if the container of its base was started without support for adapters', async () => {
  await createEmptyEndpoint(plane, 'a');
  const PrimaryContainer = { Image: 'vllm:0.27.0', Environment: {} };
  await plane.sagemaker.send(new CreateModelCommand({ ModelName: 'plain', ExecutionRoleArn: ROLE, PrimaryContainer }));
  plane.advance(ENOUGH_MS);
  await createComponent(plane, 'a', 1, oneGpu('plain'));
  plane.advance(2 * ENOUGH_MS);
  await addAdapter();
  plane.advance(1_000);
  expect(await componentOf(plane, 'adapter')).toMatchObject({
    InferenceComponentStatus: 'Failed',
    FailureReason: expect.stringMatching(/^Failed to load the adapter/),
  });
});
