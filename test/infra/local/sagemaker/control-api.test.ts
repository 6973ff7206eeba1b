import {
  DescribeEndpointCommand,
  DescribeInferenceComponentCommand,
  ListTagsCommand,
  ListTrainingJobsCommand,
  SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ContainerTarget } from '../../../../infra/local/sagemaker/container-request.ts';
import { type SageMakerEmulator, startSageMaker } from '../../../../infra/local/sagemaker/server.ts';

const container = { url: 'http://127.0.0.1:1', path: '/invocations' };
const endpoints = new Map<string, ContainerTarget>();
let emulator: SageMakerEmulator;
let client: SageMakerClient;

beforeAll(async () => {
  emulator = await startSageMaker(endpoints);
  client = new SageMakerClient({
    endpoint: emulator.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
});
afterAll(async () => {
  client.destroy();
  await emulator.close();
});
beforeEach(() => {
  endpoints.clear();
  endpoints.set('tiny', container);
  endpoints.set('composed', { ...container, component: 'part-1' });
});

const describeEndpoint = (EndpointName: string) => client.send(new DescribeEndpointCommand({ EndpointName }));
const describeComponent = (InferenceComponentName: string) =>
  client.send(new DescribeInferenceComponentCommand({ InferenceComponentName }));
const tagsOf = async (ResourceArn: string | undefined, NextToken?: string) => client.send(new ListTagsCommand({ ResourceArn, NextToken }));

describe('the control API', () => {
  test('describes an endpoint with its name, ARN, status and times', async () => {
    const described = await describeEndpoint('tiny');
    expect(described).toMatchObject({
      EndpointName: 'tiny',
      EndpointArn: 'arn:aws:sagemaker:us-east-1:000000000000:endpoint/tiny',
      EndpointStatus: 'InService',
      ProductionVariants: [{ VariantName: 'AllTraffic' }],
    });
    expect(described.CreationTime).toBeInstanceOf(Date);
    expect(described.LastModifiedTime).toBeInstanceOf(Date);
  });

  test('describes an inference component with its endpoint and number of copies', async () => {
    expect(await describeComponent('part-1')).toMatchObject({
      InferenceComponentName: 'part-1',
      InferenceComponentArn: 'arn:aws:sagemaker:us-east-1:000000000000:inference-component/part-1',
      EndpointName: 'composed',
      InferenceComponentStatus: 'InService',
      RuntimeConfig: { DesiredCopyCount: 1, CurrentCopyCount: 1 },
    });
  });

  test('returns the configured statuses', async () => {
    endpoints.set('composed', { ...container, component: 'part-1', status: 'Updating', componentStatus: 'Creating' });
    expect(await describeEndpoint('composed')).toMatchObject({ EndpointStatus: 'Updating' });
    expect(await describeComponent('part-1')).toMatchObject({
      InferenceComponentStatus: 'Creating',
      RuntimeConfig: { DesiredCopyCount: 1, CurrentCopyCount: 0 },
    });
  });

  test('returns an error naming an unknown endpoint, component or resource', async () => {
    await expect(describeEndpoint('none')).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'Could not find endpoint "arn:aws:sagemaker:us-east-1:000000000000:endpoint/none".',
    });
    await expect(describeComponent('none')).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(tagsOf('arn:aws:sagemaker:us-east-1:000000000000:endpoint/none')).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('rejects other operations', async () => {
    await expect(client.send(new ListTrainingJobsCommand())).rejects.toMatchObject({ name: 'UnknownOperationException' });
  });
});

describe('tags', () => {
  test('allow Sluice to invoke endpoints by default', async () => {
    for (const { EndpointArn } of [await describeEndpoint('tiny'), await describeEndpoint('composed')])
      expect((await tagsOf(EndpointArn)).Tags).toEqual([{ Key: 'sluice', Value: 'true' }]);
    expect((await tagsOf((await describeComponent('part-1')).InferenceComponentArn)).Tags).toEqual([{ Key: 'sluice', Value: 'true' }]);
  });

  test('are those configured for the endpoint and, separately, for its component', async () => {
    endpoints.set('composed', { ...container, component: 'part-1', tags: {}, componentTags: { team: 'a' } });
    expect((await tagsOf((await describeEndpoint('composed')).EndpointArn)).Tags).toEqual([]);
    const { InferenceComponentArn } = await describeComponent('part-1');
    expect((await tagsOf(InferenceComponentArn)).Tags).toEqual([{ Key: 'team', Value: 'a' }]);
  });

  test('are returned in pages', async () => {
    endpoints.set('tiny', { ...container, tags: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`key-${i}`, 'v'])) });
    const { EndpointArn } = await describeEndpoint('tiny');
    const first = await tagsOf(EndpointArn);
    const second = await tagsOf(EndpointArn, first.NextToken);
    expect(first.Tags).toHaveLength(50);
    expect(second.Tags).toHaveLength(10);
    expect(second.NextToken).toBeUndefined();
  });
});
