import {
  AddTagsCommand,
  CreateModelCommand,
  DeleteModelCommand,
  ListEndpointConfigsCommand,
  ListEndpointsCommand,
  ListInferenceComponentsCommand,
  ListModelsCommand,
  type ListModelsCommandInput,
  ListTagsCommand,
} from '@aws-sdk/client-sagemaker';
import { beforeEach, expect, test } from '@jest/globals';
import { type ControlPlane, createControlPlane } from '../../../../support/emulators/sagemaker-control-plane.ts';
import { createEmptyEndpoint, deploy, ROLE } from '../deployment.ts';

let plane: ControlPlane;
beforeEach(() => {
  plane = createControlPlane();
});

const createModels = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1)
    await plane.sagemaker.send(new CreateModelCommand({ ModelName: `m-${String(index).padStart(2, '0')}`, ExecutionRoleArn: ROLE }));
};
const models = async (input: ListModelsCommandInput) => {
  const { Models, NextToken } = await plane.sagemaker.send(new ListModelsCommand(input));
  return { names: Models?.map(({ ModelName }) => ModelName) ?? [], NextToken };
};

test('a list has ten items by default, the newest first, and a token for the rest', async () => {
  await createModels(12);
  const first = await models({});
  expect(first.names).toEqual(['m-11', 'm-10', 'm-09', 'm-08', 'm-07', 'm-06', 'm-05', 'm-04', 'm-03', 'm-02']);
  const rest = await models({ NextToken: first.NextToken });
  expect(rest).toEqual({ names: ['m-01', 'm-00'], NextToken: undefined });
});

test('no item is skipped if another one is deleted between two pages', async () => {
  await createModels(6);
  const first = await models({ MaxResults: 3, SortBy: 'Name', SortOrder: 'Ascending' });
  await plane.sagemaker.send(new DeleteModelCommand({ ModelName: 'm-00' }));
  const second = await models({ MaxResults: 3, SortBy: 'Name', SortOrder: 'Ascending', NextToken: first.NextToken });
  expect([...first.names, ...second.names]).toEqual(['m-00', 'm-01', 'm-02', 'm-03', 'm-04', 'm-05']);
});

test('lists are by a part of the name, by endpoint and by status', async () => {
  await deploy(plane, 'sluice-1');
  await deploy(plane, 'sluice-2');
  await createEmptyEndpoint(plane, 'other');
  const { sagemaker } = plane;
  const listed = await sagemaker.send(new ListEndpointsCommand({ NameContains: 'SLUICE-', StatusEquals: 'InService' }));
  expect(listed.Endpoints?.map(({ EndpointName }) => EndpointName)).toEqual(['sluice-2', 'sluice-1']);
  const creating = await sagemaker.send(new ListEndpointsCommand({ StatusEquals: 'Creating' }));
  expect(creating.Endpoints).toMatchObject([{ EndpointName: 'other', EndpointStatus: 'Creating', CreationTime: expect.any(Date) }]);
  const components = await sagemaker.send(new ListInferenceComponentsCommand({ EndpointNameEquals: 'sluice-1' }));
  expect(components.InferenceComponents).toMatchObject([{ InferenceComponentName: 'sluice-1', InferenceComponentStatus: 'InService' }]);
  const configs = await sagemaker.send(new ListEndpointConfigsCommand({ NameContains: '-2' }));
  expect(configs.EndpointConfigs).toMatchObject([{ EndpointConfigName: 'sluice-2' }]);
});

test('tags are those of the creation and those added later', async () => {
  const { sagemaker } = plane;
  const Tags = [{ Key: 'sluice', Value: 'true' }];
  const { ModelArn } = await sagemaker.send(new CreateModelCommand({ ModelName: 'm', ExecutionRoleArn: ROLE, Tags }));
  await sagemaker.send(
    new AddTagsCommand({
      ResourceArn: ModelArn,
      Tags: [
        { Key: 'sluice', Value: 'false' },
        { Key: 'team', Value: 'a' },
      ],
    }),
  );
  expect((await sagemaker.send(new ListTagsCommand({ ResourceArn: ModelArn }))).Tags).toEqual([
    { Key: 'sluice', Value: 'false' },
    { Key: 'team', Value: 'a' },
  ]);
  await expect(sagemaker.send(new ListTagsCommand({ ResourceArn: `${ModelArn}x` }))).rejects.toThrow('Could not find resource');
});
