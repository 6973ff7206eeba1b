import {
  DescribeEndpointCommand,
  DescribeEndpointConfigCommand,
  type DescribeEndpointOutput,
  ListTagsCommand,
  paginateListEndpoints,
  paginateListInferenceComponents,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { awsTags } from '../../../shared/deployments/names.ts';

/** Instances of an endpoint that exist or are being started. */
export interface RunningInstances {
  type: string;
  count: number;
}

/** A SageMaker endpoint with its instances, which AWS bills by the second. */
export interface RunningEndpoint {
  region: string;
  name: string;
  /** The status in SageMaker, such as `InService`. */
  status: string;
  /** True if Sluice can invoke it, or has created it. */
  isOwn: boolean;
  instances: RunningInstances[];
  /** The inference components of an own endpoint, in the order in which they can be deleted. */
  components: string[];
}

/** The settings by which Sluice recognizes an endpoint. */
export interface Installation {
  /** The tag that makes endpoints invocable. */
  endpointTag: string;
  /** The name that is a tag of what the function `deployments` creates. */
  name: string;
}

/** Instances with a GPU or another accelerator. */
export const isAccelerated = (type: string): boolean => /^ml\.(g|gr|p|inf|trn)\d/.test(type);

const isOwn = async (client: SageMakerClient, arn: string, { endpointTag, name }: Installation): Promise<boolean> => {
  const { Tags = [] } = await client.send(new ListTagsCommand({ ResourceArn: arn, MaxResults: 100 }));
  return Tags.some(({ Key, Value }) => (Key === endpointTag && Value === 'true') || (Key === awsTags.installation && Value === name));
};

// Instances are in pools, or else of the type in the endpoint's configuration.
const instancesOf = async (client: SageMakerClient, endpoint: DescribeEndpointOutput): Promise<RunningInstances[]> => {
  const { EndpointConfigName, ProductionVariants = [] } = endpoint;
  if (ProductionVariants.length === 0) return [];
  const { ProductionVariants: configured = [] } = await client.send(new DescribeEndpointConfigCommand({ EndpointConfigName }));
  const instances: RunningInstances[] = [];
  for (const { VariantName, CurrentInstanceCount = 0, DesiredInstanceCount = 0, InstancePools = [] } of ProductionVariants) {
    const { InstanceType, InstancePools: pools = [] } = configured.find((variant) => variant.VariantName === VariantName) ?? {};
    const ofPools = InstancePools.map(({ InstanceType: type = '', CurrentInstanceCount: count = 0 }) => ({ type, count }));
    // An instance that is being started is in no pool yet.
    const starting = Math.max(CurrentInstanceCount, DesiredInstanceCount) - ofPools.reduce((sum, { count }) => sum + count, 0);
    const type = InstanceType ?? pools[0]?.InstanceType ?? 'unknown';
    instances.push(...ofPools, { type, count: starting });
  }
  return instances.filter(({ count }) => count > 0);
};

// The adapters of a component have its name and an id, and it can't be deleted before them.
const componentsOf = async (client: SageMakerClient, endpoint: string): Promise<string[]> => {
  const names: string[] = [];
  for await (const { InferenceComponents = [] } of paginateListInferenceComponents({ client }, { EndpointNameEquals: endpoint }))
    for (const { InferenceComponentName: name = '' } of InferenceComponents) names.push(name);
  return names.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
};

/** Every endpoint of the account in the client's region. */
export const listRunningEndpoints = async (
  client: SageMakerClient,
  region: string,
  installation: Installation,
): Promise<RunningEndpoint[]> => {
  const endpoints: RunningEndpoint[] = [];
  for await (const { Endpoints = [] } of paginateListEndpoints({ client }, {}))
    for (const { EndpointName: name = '', EndpointArn: arn = '', EndpointStatus: status = '' } of Endpoints) {
      const described = await client.send(new DescribeEndpointCommand({ EndpointName: name }));
      const isOwned = await isOwn(client, arn, installation);
      const instances = await instancesOf(client, described);
      const components = isOwned ? await componentsOf(client, name) : [];
      endpoints.push({ region, name, status, isOwn: isOwned, instances, components });
    }
  return endpoints;
};

/** The endpoints of Sluice whose accelerators AWS bills. */
export const billedAccelerators = (endpoints: readonly RunningEndpoint[]): RunningEndpoint[] =>
  endpoints.filter(({ isOwn, instances }) => isOwn && instances.some(({ type }) => isAccelerated(type)));

const deletionOf = ({ region, name, components }: RunningEndpoint): string[] => [
  ...components.map((each) => `aws sagemaker delete-inference-component --region ${region} --inference-component-name ${each}`),
  `aws sagemaker delete-endpoint --region ${region} --endpoint-name ${name}`,
];

/** Returns the text that `npm run teardown -- --check` prints. */
export const describeEndpoints = (endpoints: readonly RunningEndpoint[], regions: readonly string[]): string => {
  const rows = endpoints.map(({ region, name, status, isOwn, instances }) => {
    const running = instances.map(({ type, count }) => `${count} × ${type}`).join(', ') || 'no instances';
    return `${region}  ${name}  ${status}  ${running}${isOwn ? '' : '  (not of Sluice)'}`;
  });
  const billed = billedAccelerators(endpoints);
  if (billed.length === 0) return [...rows, `No GPU of Sluice is billed in ${regions.join(', ')}.`].join('\n');
  const result = `${billed.length} of these endpoints ${billed.length === 1 ? 'is' : 'are'} of Sluice and billed by the second. Delete the deployment in the control plane, or run these commands, each when what the one before deletes is gone:`;
  return [...rows, result, ...billed.flatMap(deletionOf).map((command) => `  ${command}`)].join('\n');
};
