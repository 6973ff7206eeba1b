import type {
  CreateEndpointConfigInput,
  CreateEndpointInput,
  CreateInferenceComponentInput,
  CreateModelInput,
  ProductionVariantInferenceAmiVersion,
  ProductionVariantInstanceType,
  Tag,
} from '@aws-sdk/client-sagemaker';
import { type Adapter, MAX_ADAPTERS } from '../../../shared/deployments/adapter.ts';
import { type Deployment, type Generation, leastCopies, MAX_COPIES } from '../../../shared/deployments/deployment.ts';
import {
  adapterNameOf,
  archiveKeyOf,
  awsNameOf,
  awsTags,
  MAX_TAG_KEY_CHARACTERS,
  OWNERS_TAG_PREFIX,
} from '../../../shared/deployments/names.ts';

/** The settings that all deployments of an installation share. */
export interface Installation {
  /** The prefix of this installation's stacks and names. */
  name: string;
  /** The key of the tag that endpoints need so that they can be invoked. */
  endpointTag: string;
  /** The role of containers. It can read the weights. */
  executionRoleArn: string;
  /**
   * The role of containers that load from the Hugging Face Hub. It can read nothing. Absent if the deployer doesn't
   * allow models of the Hub.
   */
  hubExecutionRoleArn?: string | undefined;
  /** True if SageMaker publishes detailed metrics of containers, GPUs and hosts, which cost extra. */
  detailedMetrics: boolean;
  /** The bucket with weights, and with the archives of adapters. */
  weightsBucket: string;
}

/** The deployer no longer allows models of the Hugging Face Hub. */
export class HubNotAllowed extends Error {
  override name = 'HubNotAllowed';
}

/** The inputs of the calls that create a generation's resources. */
export interface GenerationResources {
  model: CreateModelInput;
  config: CreateEndpointConfigInput;
  endpoint: CreateEndpointInput;
  component: CreateInferenceComponentInput;
}

const VARIANT = 'AllTraffic';

// The time for all pools: SageMaker tries the next one when a pool has no free instance. It is SageMaker's default for
// a single type, so that a second type doesn't shorten the wait.
const PROVISION_TIMEOUT_SECONDS = 1_800;
// SageMaker's maximum is an hour for both.
const DOWNLOAD_TIMEOUT_SECONDS = 3_600;
const HEALTH_CHECK_TIMEOUT_SECONDS = 1_800;
// SageMaker reserves this for a copy, without a limit. Small instances reject more with a misleading error.
const MIN_MEMORY_MB = 1_024;
// SageMaker puts the weights here.
const WEIGHTS_FOLDER = '/opt/ml/model';

const isInS3 = ({ model }: Generation): boolean => model.startsWith('s3://');

// An owner's tags get a prefix, so that they can't replace a tag by which the account authorizes, bills or cleans up.
const ownersTags = (tags: Deployment['tags']): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [(OWNERS_TAG_PREFIX + key).slice(0, MAX_TAG_KEY_CHARACTERS), value]));

// Our tags come last: an owner's tag can't replace one on which permissions depend.
const tagsOf = ({ name, endpointTag }: Installation, { id, organization, tags }: Deployment): Tag[] => {
  const own = { [awsTags.deployment]: id, [awsTags.organization]: organization, [awsTags.installation]: name };
  return Object.entries({ ...ownersTags(tags), [endpointTag]: 'true', ...own }).map(([Key, Value]) => ({ Key, Value }));
};

// Without the last one, vLLM has no route by which SageMaker loads adapters. All of them are kept in memory, so that
// those that aren't on the accelerators get there at once.
const adapterVariables = ({ adapters }: Generation): Record<string, string> =>
  adapters
    ? {
        SM_VLLM_ENABLE_LORA: 'true',
        SM_VLLM_MAX_LORA_RANK: String(adapters.max_rank),
        SM_VLLM_MAX_LORAS: String(adapters.max_loaded),
        SM_VLLM_MAX_CPU_LORAS: String(MAX_ADAPTERS),
        VLLM_ALLOW_RUNTIME_LORA_UPDATING: 'True',
      }
    : {};

// Text Embeddings Inference has a variable of its own for the model, and finds the task in its files. By default, vLLM
// generates text.
const modelVariables = ({ name, serving }: Deployment, generation: Generation): Record<string, string> => {
  const model = isInS3(generation) ? WEIGHTS_FOLDER : generation.model;
  if (generation.runtime.dialect === 'tei') return { HF_MODEL_ID: model };
  return {
    SM_VLLM_MODEL: model,
    SM_VLLM_SERVED_MODEL_NAME: name,
    ...(serving.task !== 'generate' && { SM_VLLM_RUNNER: 'pooling' }),
    ...adapterVariables(generation),
  };
};

// Our variables come last, so that an owner can't replace them.
const environmentOf = (deployment: Deployment, generation: Generation): Record<string, string> => ({
  ...generation.environment,
  ...modelVariables(deployment, generation),
  // Otherwise the image installs a requirements.txt that it finds among the weights.
  STANDARD_AUTO_INSTALL_REQ: 'false',
});

const instancesOf = ({ instance_types }: Generation) => {
  const types = instance_types as ProductionVariantInstanceType[];
  if (types.length === 1) return { InstanceType: types[0] };
  const InstancePools = types.map((InstanceType, i) => ({ InstanceType, Priority: i + 1 }));
  return { InstancePools, VariantInstanceProvisionTimeoutInSeconds: PROVISION_TIMEOUT_SECONDS };
};

const specificationsOf = (name: string, { accelerators, instance_types }: Generation) => {
  const specification = {
    ModelName: name,
    StartupParameters: {
      ModelDataDownloadTimeoutInSeconds: DOWNLOAD_TIMEOUT_SECONDS,
      ContainerStartupHealthCheckTimeoutInSeconds: HEALTH_CHECK_TIMEOUT_SECONDS,
    },
    ComputeResourceRequirements: { NumberOfAcceleratorDevicesRequired: accelerators, MinMemoryRequiredInMb: MIN_MEMORY_MB },
    DataCacheConfig: { EnableCaching: true },
  };
  if (instance_types.length === 1) return { Specification: specification };
  const types = instance_types as ProductionVariantInstanceType[];
  return { Specifications: types.map((InstanceType) => ({ ...specification, InstanceType })) };
};

/**
 * The inputs of SageMaker's calls for a generation. All its resources have one name, derived from the deployment's id
 * and the generation's number. Weights from S3 run without a network; weights from the Hub need one, and get a role
 * that can read nothing.
 * @throws HubNotAllowed if that role is missing: a container with a network must not get the credentials of the other
 * role
 */
export const resourcesOf = (installation: Installation, deployment: Deployment, generation: Generation): GenerationResources => {
  const name = awsNameOf(installation.name, deployment.id, generation.number);
  const ExecutionRoleArn = isInS3(generation) ? installation.executionRoleArn : installation.hubExecutionRoleArn;
  if (ExecutionRoleArn === undefined) throw new HubNotAllowed(`${generation.model} is a model of the Hugging Face Hub.`);
  const Tags = tagsOf(installation, deployment);
  const security = { ExecutionRoleArn, EnableNetworkIsolation: isInS3(generation) };
  const S3DataSource = { S3Uri: generation.model, S3DataType: 'S3Prefix', CompressionType: 'None' } as const;
  const ami = generation.runtime.ami as ProductionVariantInferenceAmiVersion | undefined;
  return {
    model: {
      ModelName: name,
      ...security,
      PrimaryContainer: {
        Image: generation.runtime.image,
        Environment: environmentOf(deployment, generation),
        ...(isInS3(generation) && { ModelDataSource: { S3DataSource } }),
      },
      Tags,
    },
    config: {
      EndpointConfigName: name,
      ...security,
      ProductionVariants: [
        {
          VariantName: VARIANT,
          ...instancesOf(generation),
          InitialInstanceCount: 1,
          ...(ami && { InferenceAmiVersion: ami }),
          ModelDataDownloadTimeoutInSeconds: DOWNLOAD_TIMEOUT_SECONDS,
          ContainerStartupHealthCheckTimeoutInSeconds: HEALTH_CHECK_TIMEOUT_SECONDS,
          ManagedInstanceScaling: { Status: 'ENABLED', MinInstanceCount: 0, MaxInstanceCount: MAX_COPIES },
          RoutingConfig: { RoutingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
        },
      ],
      // SageMaker's own default is true.
      MetricsConfig: { EnableDetailedObservability: installation.detailedMetrics },
      Tags,
    },
    endpoint: { EndpointName: name, EndpointConfigName: name, Tags },
    component: {
      InferenceComponentName: name,
      EndpointName: name,
      VariantName: VARIANT,
      ...specificationsOf(name, generation),
      RuntimeConfig: { CopyCount: leastCopies(deployment) },
      Tags,
    },
  };
};

/**
 * The input of the call that creates an adapter's component on a generation's endpoint. It has no hardware of its own,
 * and is loaded by the containers of the generation's own component. It loads an archive that its owner can't write.
 */
export const adapterResource = (
  installation: Installation,
  deployment: Deployment,
  generation: number,
  { id }: Pick<Adapter, 'id'>,
): CreateInferenceComponentInput => {
  const base = awsNameOf(installation.name, deployment.id, generation);
  const ArtifactUrl = `s3://${installation.weightsBucket}/${archiveKeyOf(deployment.organization, deployment.id, id)}`;
  return {
    InferenceComponentName: adapterNameOf(base, id),
    EndpointName: base,
    VariantName: VARIANT,
    Specification: { BaseInferenceComponentName: base, Container: { ArtifactUrl } },
    Tags: tagsOf(installation, deployment),
  };
};
