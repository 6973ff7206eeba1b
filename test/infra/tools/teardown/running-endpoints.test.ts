import {
  CreateEndpointCommand,
  CreateEndpointConfigCommand,
  CreateInferenceComponentCommand,
  CreateModelCommand,
  DeleteEndpointCommand,
} from '@aws-sdk/client-sagemaker';
import { describe, expect, test } from '@jest/globals';
import {
  billedAccelerators,
  describeEndpoints,
  isAccelerated,
  listRunningEndpoints,
} from '../../../../infra/tools/teardown/running-endpoints.ts';
import { HOUR_MS } from '../../../../shared/time/units.ts';
import { createControlPlane } from '../../../support/emulators/sagemaker-control-plane.ts';

const ROLE = 'arn:aws:iam::000000000000:role/sluice';
const INSTALLATION = { endpointTag: 'sluice', name: 'sluice' };

// The endpoints are in service.
const accountWith = async (endpoints: Record<string, { type: string; tags?: Record<string, string> }>) => {
  const aws = createControlPlane();
  for (const [name, { type, tags = {} }] of Object.entries(endpoints)) {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    await aws.sagemaker.send(
      new CreateModelCommand({
        ModelName: name,
        ExecutionRoleArn: ROLE,
        PrimaryContainer: { Image: '000000000000.dkr.ecr.us-east-1.amazonaws.com/vllm:1' },
      }),
    );
    const variant = { VariantName: 'all', ModelName: name, InstanceType: type as never, InitialInstanceCount: 1 };
    await aws.sagemaker.send(new CreateEndpointConfigCommand({ EndpointConfigName: name, ProductionVariants: [variant] }));
    await aws.sagemaker.send(new CreateEndpointCommand({ EndpointName: name, EndpointConfigName: name, Tags }));
  }
  aws.advance(HOUR_MS);
  const list = () => listRunningEndpoints(aws.sagemaker, 'us-east-1', INSTALLATION);
  return { aws, list };
};

describe('the endpoints of an account', () => {
  test('are billed for Sluice if they have its tag or were created by it, until they are deleted', async () => {
    const { aws, list } = await accountWith({
      invocable: { type: 'ml.g5.xlarge', tags: { sluice: 'true' } },
      created: { type: 'ml.g6.xlarge', tags: { 'sluice:installation': 'sluice' } },
      'of-another-stage': { type: 'ml.g5.xlarge', tags: { 'sluice:installation': 'sluice-dev' } },
      foreign: { type: 'ml.g5.xlarge', tags: { sluice: 'false' } },
    });
    const running = await list();
    expect(running.map(({ name, isOwn, status, instances }) => ({ name, isOwn, status, instances }))).toEqual(
      expect.arrayContaining([
        { name: 'invocable', isOwn: true, status: 'InService', instances: [{ type: 'ml.g5.xlarge', count: 1 }] },
        { name: 'created', isOwn: true, status: 'InService', instances: [{ type: 'ml.g6.xlarge', count: 1 }] },
        { name: 'of-another-stage', isOwn: false, status: 'InService', instances: [{ type: 'ml.g5.xlarge', count: 1 }] },
        { name: 'foreign', isOwn: false, status: 'InService', instances: [{ type: 'ml.g5.xlarge', count: 1 }] },
      ]),
    );
    expect(
      billedAccelerators(running)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['created', 'invocable']);
    const text = describeEndpoints(running, ['us-east-1']);
    expect(text).toContain('us-east-1  invocable  InService  1 × ml.g5.xlarge');
    expect(text).toContain('(not of Sluice)');
    expect(text).toContain('2 of these endpoints are of Sluice and billed by the second.');

    for (const EndpointName of ['invocable', 'created']) await aws.sagemaker.send(new DeleteEndpointCommand({ EndpointName }));
    // An endpoint is billed until its deletion has ended.
    expect(billedAccelerators(await list())).toHaveLength(2);
    aws.advance(HOUR_MS);
    expect(billedAccelerators(await list())).toEqual([]);
    expect(describeEndpoints(await list(), ['us-east-1', 'eu-west-1'])).toContain('No GPU of Sluice is billed in us-east-1, eu-west-1.');
  });

  test('have commands that delete their adapters, then their component, then themselves', async () => {
    const { aws, list } = await accountWith({ 'sluice-a-g1': { type: 'ml.g5.xlarge', tags: { 'sluice:installation': 'sluice' } } });
    const create = (InferenceComponentName: string, Specification: object) =>
      aws.sagemaker.send(
        new CreateInferenceComponentCommand({
          InferenceComponentName,
          EndpointName: 'sluice-a-g1',
          Specification,
          ...(InferenceComponentName === 'sluice-a-g1' && { VariantName: 'all', RuntimeConfig: { CopyCount: 1 } }),
        }),
      );
    await create('sluice-a-g1', {
      ModelName: 'sluice-a-g1',
      ComputeResourceRequirements: { NumberOfAcceleratorDevicesRequired: 1, MinMemoryRequiredInMb: 1_024 },
    });
    aws.advance(HOUR_MS);
    for (const id of ['b', 'a'])
      await create(`sluice-a-g1-lora${id}`, {
        BaseInferenceComponentName: 'sluice-a-g1',
        Container: { ArtifactUrl: 's3://weights/adapters/a.tar.gz' },
      });
    const deleting = describeEndpoints(await list(), ['us-east-1'])
      .split('\n')
      .filter((line) => line.startsWith('  '));
    expect(deleting.map((line) => line.split(' ').at(-1))).toEqual([
      'sluice-a-g1-loraa',
      'sluice-a-g1-lorab',
      'sluice-a-g1',
      'sluice-a-g1',
    ]);
    for (const [line, name] of [
      [0, 'sluice-a-g1-loraa'],
      [2, 'sluice-a-g1'],
    ] as const)
      expect(deleting[line]).toBe(`  aws sagemaker delete-inference-component --region us-east-1 --inference-component-name ${name}`);
    expect(deleting.at(-1)).toBe('  aws sagemaker delete-endpoint --region us-east-1 --endpoint-name sluice-a-g1');
  });

  test('without an accelerator are listed, but not as billed accelerators', async () => {
    const { list } = await accountWith({ cpu: { type: 'ml.m5.large', tags: { sluice: 'true' } } });
    expect(await list()).toMatchObject([{ name: 'cpu', isOwn: true, instances: [{ count: 1 }] }]);
    expect(billedAccelerators(await list())).toEqual([]);
  });
});

test.each(['ml.g5.xlarge', 'ml.g6e.48xlarge', 'ml.p4d.24xlarge', 'ml.p5en.48xlarge', 'ml.inf2.xlarge', 'ml.trn1.2xlarge'])(
  '%s has an accelerator',
  (type) => expect(isAccelerated(type)).toBe(true),
);
test.each(['ml.m5.large', 'ml.c7g.xlarge', 'ml.r6gd.large', 'ml.t2.medium'])('%s has none', (type) =>
  expect(isAccelerated(type)).toBe(false),
);
