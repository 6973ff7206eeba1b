import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { AdapterFiles } from '../../../functions/deployments/adapters/adapter-files.ts';
import type { DescribedEndpoint, SageMaker } from '../../../functions/deployments/aws/sagemaker.ts';
import type { Scaling } from '../../../functions/deployments/aws/scaling.ts';
import { type AwsWriter, perform } from '../../../functions/deployments/reconcile/perform.ts';
import { stepsUp } from '../../../functions/deployments/reconcile/steps.ts';
import { newDeployment } from '../../support/fixtures/deployments.ts';
import { INSTALLATION } from './world.ts';

beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const deployment = newDeployment({ organization: 'org_1' });

// SageMaker rejects the creation of endpoints and models with this text, and has neither.
const rejecting = (message: string, installation: Partial<AwsWriter['installation']> = {}): AwsWriter => {
  const reject = async (): Promise<never> => {
    throw Object.assign(new Error(message), { name: 'ValidationException' });
  };
  const sageMaker = { createModel: reject, createEndpoint: reject, hasModel: async () => false, describeEndpoint: async () => undefined };
  return {
    sageMaker: sageMaker as Partial<SageMaker> as SageMaker,
    scaling: {} as Scaling,
    files: {} as AdapterFiles,
    installation: { ...INSTALLATION, ...installation },
    hasTime: () => true,
  };
};

test('keeps a deployment whose configuration SageMaker doesn’t see yet; the next pass goes on', async () => {
  const aws = rejecting('Could not find endpoint configuration "arn:aws:sagemaker:us-east-1:123456789012:endpoint-config/sluice-x-g1".');
  expect(await perform(aws, deployment, [{ generation: 1, kind: 'create_endpoint' }])).toEqual([]);
});

test('keeps a deployment whose name SageMaker has but doesn’t show yet; the next pass goes on', async () => {
  const aws = rejecting('Cannot create already existing endpoint "arn:aws:sagemaker:us-east-1:123456789012:endpoint/sluice-x-g1".');
  expect(await perform(aws, deployment, [{ generation: 1, kind: 'create_endpoint' }])).toEqual([]);
});

test('deletes an endpoint with the next pass if SageMaker still sees a component on it that is gone', async () => {
  const aws = rejecting('Cannot delete endpoint with inference component associated. Please delete inference component and try it again.');
  const { createEndpoint: reject } = aws.sageMaker;
  const describeEndpoint = async () => ({ status: 'InService', instances: [], missingInstances: 0 });
  aws.sageMaker = { ...aws.sageMaker, deleteEndpoint: () => reject({} as never), describeEndpoint };
  expect(await perform(aws, deployment, [{ generation: 1, kind: 'delete_endpoint' }])).toEqual([]);
});

test('fails the deployment if SageMaker does not find its weights', async () => {
  const aws = rejecting('Could not find model data at s3://sluice-weights/org_1/qwen3-8b/.');
  expect(await perform(aws, deployment, [{ generation: 1, kind: 'create_model' }])).toMatchObject([
    { reason: { code: 'weights_unreadable' } },
  ]);
});

const throwing =
  (name: string, fields = {}) =>
  async (): Promise<never> => {
    throw Object.assign(new Error('Rate exceeded'), { name, ...fields });
  };

test.each([
  ['a throttle', throwing('ThrottlingException')],
  ['a failure of AWS', throwing('Unknown', { $metadata: { httpStatusCode: 500 } })],
])('keeps a deployment whose call ends in %s, also if the call had no effect', async (_, createModel) => {
  const aws = rejecting('');
  aws.sageMaker = { ...aws.sageMaker, createModel };
  expect(await perform(aws, deployment, [{ generation: 1, kind: 'create_model' }])).toEqual([]);
});

test('keeps a deployment whose call is rejected if a throttle hides the call’s effect', async () => {
  const aws = rejecting('Cannot create already existing model.');
  aws.sageMaker = { ...aws.sageMaker, hasModel: throwing('ThrottlingException') };
  expect(await perform(aws, deployment, [{ generation: 1, kind: 'create_model' }])).toEqual([]);
});

describe('creates a component only on an endpoint that is in service, since a rejected creation is a failure:', () => {
  const onEndpoint = (status: string) => {
    const endpoint: DescribedEndpoint = { status, instances: [], missingInstances: 0 };
    return stepsUp(deployment, 1, { hasModel: true, hasConfig: true, endpoint, adapters: [] }, false).map(({ kind }) => kind);
  };

  test.each([
    ['InService', ['create_component']],
    ['Updating', []],
    ['SystemUpdating', []],
    ['Creating', []],
  ] as const)('%s', (status, calls) => {
    expect(onEndpoint(status)).toEqual(calls);
  });
});
