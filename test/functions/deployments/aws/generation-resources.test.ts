import { expect, test } from '@jest/globals';
import { HubNotAllowed, resourcesOf } from '../../../../functions/deployments/aws/generation-resources.ts';
import type { Deployment, Generation } from '../../../../shared/deployments/deployment.ts';
import { newDeployment } from '../../../support/fixtures/deployments.ts';
import { INSTALLATION } from '../world.ts';

const resources = (fields: Partial<Deployment> = {}, generationFields: Partial<Generation> = {}) => {
  const deployment = newDeployment({ organization: 'org_1', ...fields });
  const generation = { ...(deployment.generations[0] as Generation), ...generationFields };
  return { deployment, ...resourcesOf(INSTALLATION, deployment, generation) };
};

test('gives a container with weights from S3 no network, and installs nothing', () => {
  const { model, config } = resources();
  expect(model).toMatchObject({
    EnableNetworkIsolation: true,
    ExecutionRoleArn: INSTALLATION.executionRoleArn,
    PrimaryContainer: {
      Environment: { STANDARD_AUTO_INSTALL_REQ: 'false', SM_VLLM_MODEL: '/opt/ml/model', SM_VLLM_SERVED_MODEL_NAME: 'qwen3-8b' },
      ModelDataSource: {
        S3DataSource: { S3Uri: 's3://sluice-weights/org_1/qwen3-8b/', S3DataType: 'S3Prefix', CompressionType: 'None' },
      },
    },
  });
  expect(config).toMatchObject({ EnableNetworkIsolation: true, ExecutionRoleArn: INSTALLATION.executionRoleArn });
});

test('starts vLLM for the task of a deployment that generates no text, whatever its owner sets', () => {
  const { serving } = newDeployment({ organization: 'org_1' });
  const environment = { SM_VLLM_RUNNER: 'generate' };
  for (const task of ['embed', 'rerank'] as const) {
    const { model } = resources({ serving: { ...serving, task } }, { environment });
    expect(model.PrimaryContainer?.Environment).toMatchObject({ SM_VLLM_RUNNER: 'pooling' });
  }
  expect(resources().model.PrimaryContainer?.Environment).not.toHaveProperty('SM_VLLM_RUNNER');
});

test('gives Text Embeddings Inference its model in the variable that it reads', () => {
  const { serving, generations } = newDeployment({ organization: 'org_1' });
  const runtime = { ...(generations[0] as Generation).runtime, dialect: 'tei' as const };
  const { model } = resources({ serving: { ...serving, task: 'embed' } }, { runtime });
  expect(model.PrimaryContainer?.Environment).toEqual({ HF_MODEL_ID: '/opt/ml/model', STANDARD_AUTO_INSTALL_REQ: 'false' });
});

test('gives a container with a model of the Hub a network, and a role that reads no weights', () => {
  const { model, config } = resources({}, { model: 'Qwen/Qwen3-8B' });
  expect(model).toMatchObject({
    EnableNetworkIsolation: false,
    ExecutionRoleArn: INSTALLATION.hubExecutionRoleArn,
    PrimaryContainer: { Environment: { SM_VLLM_MODEL: 'Qwen/Qwen3-8B' } },
  });
  expect(model.PrimaryContainer?.ModelDataSource).toBeUndefined();
  expect(config).toMatchObject({ EnableNetworkIsolation: false, ExecutionRoleArn: INSTALLATION.hubExecutionRoleArn });
});

test('never gives a model of the Hub the role that reads weights, even if its own role is gone', () => {
  const deployment = newDeployment({ organization: 'org_1' });
  const generation = { ...(deployment.generations[0] as Generation), model: 'Qwen/Qwen3-8B' };
  const { hubExecutionRoleArn: _, ...withoutHub } = INSTALLATION;
  expect(() => resourcesOf(withoutHub, deployment, generation)).toThrow(HubNotAllowed);
});

test('keeps an owner’s variables and tags from replacing those on which security depends', () => {
  const tags = {
    'sluice:organization': 'org_other',
    sluice: 'false',
    team: 'search',
    ttl: '1h',
    ['x'.repeat(128)]: 'from an older release',
  };
  const environment = {
    STANDARD_AUTO_INSTALL_REQ: 'true',
    SM_VLLM_SERVED_MODEL_NAME: 'other',
    SM_VLLM_MODEL: '/tmp',
    SM_VLLM_DTYPE: 'bfloat16',
  };
  const { deployment, model, config, endpoint, component } = resources({ tags }, { environment });
  expect(model.PrimaryContainer?.Environment).toEqual({
    STANDARD_AUTO_INSTALL_REQ: 'false',
    SM_VLLM_SERVED_MODEL_NAME: 'qwen3-8b',
    SM_VLLM_MODEL: '/opt/ml/model',
    SM_VLLM_DTYPE: 'bfloat16',
  });
  for (const { Tags } of [model, config, endpoint, component])
    expect(Object.fromEntries((Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toEqual({
      'customer:sluice:organization': 'org_other',
      'customer:sluice': 'false',
      'customer:team': 'search',
      'customer:ttl': '1h',
      [`customer:${'x'.repeat(119)}`]: 'from an older release',
      sluice: 'true',
      'sluice:deployment': deployment.id,
      'sluice:organization': 'org_1',
      'sluice:installation': 'sluice',
    });
});

test.each([false, true])('an endpoint publishes detailed metrics only if the deployer wants to pay for them: %s', (detailedMetrics) => {
  const deployment = newDeployment({ organization: 'org_1' });
  const { config } = resourcesOf({ ...INSTALLATION, detailedMetrics }, deployment, deployment.generations[0] as Generation);
  // SageMaker’s default is true, so the field is never left out.
  expect(config.MetricsConfig).toEqual({ EnableDetailedObservability: detailedMetrics });
});

test('sends one specification for one instance type, and an endpoint that may scale to nothing', () => {
  const { config, component } = resources({ copies: { min: 2, max: 4 } });
  expect(config.ProductionVariants).toMatchObject([
    {
      InstanceType: 'ml.g5.xlarge',
      InitialInstanceCount: 1,
      ManagedInstanceScaling: { Status: 'ENABLED', MinInstanceCount: 0 },
      RoutingConfig: { RoutingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
    },
  ]);
  expect(component).toMatchObject({
    RuntimeConfig: { CopyCount: 2 },
    Specification: {
      ComputeResourceRequirements: { NumberOfAcceleratorDevicesRequired: 1, MinMemoryRequiredInMb: 1_024 },
      DataCacheConfig: { EnableCaching: true },
    },
  });
  expect(component.Specifications).toBeUndefined();
});

test('sends pools by preference, a specification a type and a timeout of half an hour for several types', () => {
  const { config, component } = resources({}, { instance_types: ['ml.g6.12xlarge', 'ml.g5.12xlarge'], accelerators: 4 });
  const [variant] = config.ProductionVariants ?? [];
  expect(variant?.InstanceType).toBeUndefined();
  expect(variant?.InstancePools).toEqual([
    { InstanceType: 'ml.g6.12xlarge', Priority: 1 },
    { InstanceType: 'ml.g5.12xlarge', Priority: 2 },
  ]);
  expect(variant?.VariantInstanceProvisionTimeoutInSeconds).toBe(1_800);
  expect(component.Specification).toBeUndefined();
  expect(component.Specifications).toMatchObject([
    { InstanceType: 'ml.g6.12xlarge', ComputeResourceRequirements: { NumberOfAcceleratorDevicesRequired: 4 } },
    { InstanceType: 'ml.g5.12xlarge' },
  ]);
});
