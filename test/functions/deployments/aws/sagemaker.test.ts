import type { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { expect, test } from '@jest/globals';
import { createSageMaker } from '../../../../functions/deployments/aws/sagemaker.ts';

const answering = (reply: object) => createSageMaker({ send: async () => reply } as Partial<SageMakerClient> as SageMakerClient);

test.each([
  ['that are being removed are not in service', { DesiredCopyCount: 0, CurrentCopyCount: 1 }, { wantedCopies: 0, copies: 0 }],
  ['that remain are in service', { DesiredCopyCount: 1, CurrentCopyCount: 3 }, { wantedCopies: 1, copies: 1 }],
  ['that are still starting are not in service', { DesiredCopyCount: 3, CurrentCopyCount: 1 }, { wantedCopies: 3, copies: 1 }],
])('copies %s', async (_, RuntimeConfig, facts) => {
  const reply = { InferenceComponentStatus: 'Updating', RuntimeConfig };
  expect(await answering(reply).describeComponent('sluice-x-g1')).toEqual({ status: 'Updating', ...facts });
});

test('counts the instances of several pools by type, and the missing ones together', async () => {
  const InstancePools = [
    { InstanceType: 'ml.g6.xlarge', CurrentInstanceCount: 0 },
    { InstanceType: 'ml.g5.xlarge', CurrentInstanceCount: 2 },
  ];
  const reply = { EndpointStatus: 'Updating', ProductionVariants: [{ CurrentInstanceCount: 2, DesiredInstanceCount: 3, InstancePools }] };
  expect(await answering(reply).describeEndpoint('sluice-x-g1')).toEqual({
    status: 'Updating',
    instances: [{ instance_type: 'ml.g5.xlarge', instances: 2 }],
    missingInstances: 1,
  });
});
