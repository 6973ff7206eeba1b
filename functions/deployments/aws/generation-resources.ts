import type {
  CreateEndpointConfigInput,
  CreateEndpointInput,
  CreateInferenceComponentInput,
  CreateModelInput,
  ProductionVariantInferenceAmiVersion,
  ProductionVariantInstanceType,
  Tag,
} from '@aws-sdk/client-sagemaker';
import { type Deployment, type Generation, MAX_COPIES } from '../../../shared/deployments/deployment.ts';
import { awsNameOf, awsTags, MAX_TAG_KEY_CHARACTERS, OWNERS_TAG_PREFIX } from '../../../shared/deployments/names.ts';

/** What is the same for all deployments of an installation. */
export interface Installation {
  /** The prefix of this installation's stacks and names. */
  name: string;
  /** The key of the tag that endpoints must have so that they can be invoked. */
  endpointTag: string;
  /** The role of containers, which reads the weights. */
  executionRoleArn: string;
  /**
   * The role of containers that load from the Hugging Face Hub, which reads nothing. Absent: the deployer doesn't
   * allow models of the Hub.
   */
  hubExecutionRoleArn?: string | undefined;
  /** Whether SageMaker publishes detailed metrics of containers, GPUs and hosts, which cost extra. */
  detailedMetrics: boolean;
}

/** The deployer no longer allows models of the Hugging Face Hub. */
export class HubNotAllowed extends Error {
  override name = 'HubNotAllowed';
}

/** What a generation's resources on AWS are made of. */
export interface GenerationResources {
  model: CreateModelInput;
  config: CreateEndpointConfigInput;
  endpoint: CreateEndpointInput;
  component: CreateInferenceComponentInput;
}

/** The only variant of each endpoint. */
const VARIANT = 'AllTraffic';

/**
 * How long instances of all pools are tried. SageMaker goes on to the next pool when one has no free instance. The
 * same half an hour as its default for a single type: a second type must not shorten the wait.
 */
const PROVISION_TIMEOUT_SECONDS = 1_800;
/** SageMaker's maximum is an hour for both. */
const DOWNLOAD_TIMEOUT_SECONDS = 3_600;
const HEALTH_CHECK_TIMEOUT_SECONDS = 1_800;
/**
 * The memory that SageMaker reserves for a copy. It limits nothing; small instances reject a larger one with a
 * misleading error.
 */
const MIN_MEMORY_MB = 1_024;
/** Where SageMaker puts the weights. */
const WEIGHTS_FOLDER = '/opt/ml/model';

/** Whether the weights are in S3 and not on the Hugging Face Hub. */
const isInS3 = ({ model }: Generation): boolean => model.startsWith('s3://');

/**
 * An owner's tags are marked as theirs, so that they can't replace a tag by which the account authorizes, bills or
 * cleans up.
 */
const ownersTags = (tags: Deployment['tags']): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [(OWNERS_TAG_PREFIX + key).slice(0, MAX_TAG_KEY_CHARACTERS), value]));

/** Ours come last: an owner's tag can't replace one on which permissions depend. */
const tagsOf = ({ name, endpointTag }: Installation, { id, organization, tags }: Deployment): Tag[] => {
  const own = { [awsTags.deployment]: id, [awsTags.organization]: organization, [awsTags.installation]: name };
  return Object.entries({ ...ownersTags(tags), [endpointTag]: 'true', ...own }).map(([Key, Value]) => ({ Key, Value }));
};

/** The container's variables: the owner's, then ours, which an owner can't replace. */
const environmentOf = ({ name }: Deployment, generation: Generation): Record<string, string> => ({
  ...generation.environment,
  SM_VLLM_MODEL: isInS3(generation) ? WEIGHTS_FOLDER : generation.model,
  SM_VLLM_SERVED_MODEL_NAME: name,
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
 * The resources of a generation as SageMaker's calls take them. All have the same name, which follows from the
 * deployment's id and the generation's number. Weights from S3 run without a network; weights from the Hub need one,
 * and get a role that can read nothing.
 * @throws HubNotAllowed if there is no such role: the other one's credentials would reach a container with a network
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
      RuntimeConfig: { CopyCount: deployment.copies.min },
      Tags,
    },
  };
};
