import { DeleteEndpointCommand, DeleteInferenceComponentCommand } from '@aws-sdk/client-sagemaker';
import { expect, test } from '@jest/globals';
import { createControlPlane } from '../../../../support/emulators/sagemaker-control-plane.ts';
import { createEmptyEndpoint, deploy } from '../deployment.ts';

test('emits an event with its own status names for each change of an endpoint, and none for components', async () => {
  const plane = createControlPlane();
  await deploy(plane, 'a');
  await plane.sagemaker.send(new DeleteInferenceComponentCommand({ InferenceComponentName: 'a' }));
  plane.advance(1_000);
  await plane.sagemaker.send(new DeleteEndpointCommand({ EndpointName: 'a' }));
  plane.advance(1_000);
  expect(plane.events.map(({ detail }) => detail.EndpointStatus)).toEqual(['CREATING', 'IN_SERVICE', 'DELETING']);
  expect(plane.events[1]).toMatchObject({
    source: 'aws.sagemaker',
    detailType: 'SageMaker Endpoint State Change',
    resources: ['arn:aws:sagemaker:us-east-1:000000000000:endpoint/a'],
    detail: { EndpointName: 'a', EndpointConfigName: 'a', Tags: {} },
  });
});

test('the event of a failed endpoint has the reason', async () => {
  const plane = createControlPlane({ settings: { faults: [{ kind: 'insufficient_capacity' }] } });
  await createEmptyEndpoint(plane, 'a');
  plane.advance(2_000);
  expect(plane.events.at(-1)?.detail).toMatchObject({
    EndpointStatus: 'FAILED',
    FailureReason: expect.stringContaining('InsufficientInstanceCapacity'),
  });
});
