import {
  CreateEndpointCommand,
  CreateEndpointConfigCommand,
  CreateInferenceComponentCommand,
  type CreateInferenceComponentInput,
  CreateModelCommand,
  DeleteEndpointCommand,
  DeleteEndpointConfigCommand,
  DeleteInferenceComponentCommand,
  DeleteModelCommand,
  DescribeEndpointCommand,
  type DescribeEndpointCommandOutput,
  DescribeEndpointConfigCommand,
  DescribeInferenceComponentCommand,
  DescribeModelCommand,
  ListEndpointConfigsCommand,
  ListEndpointsCommand,
  ListInferenceComponentsCommand,
  ListModelsCommand,
  type SageMakerClient,
  UpdateInferenceComponentRuntimeConfigCommand,
} from '@aws-sdk/client-sagemaker';
import { isAbsent } from './errors.ts';
import type { GenerationResources } from './generation-resources.ts';

export interface DescribedEndpoint {
  /** SageMaker's `EndpointStatus`. */
  status: string;
  failure?: string;
  /** The running instances by type. The type is missing if the endpoint has only one. */
  instances: readonly { instance_type?: string | undefined; instances: number }[];
  /** Requested instances that do not run yet. */
  missingInstances: number;
}

export interface DescribedComponent {
  /** SageMaker's `InferenceComponentStatus`. */
  status: string;
  failure?: string;
  wantedCopies: number;
  /** Copies in service, without those that are being removed. */
  copies: number;
}

// A deployment has at most four generations, each with one resource of a kind and a few adapters.
const PAGE_SIZE = 100;
const MAX_LISTED_PAGES = 10;

interface Page<Listed> {
  found: readonly Listed[];
  next: string | undefined;
}

const allOf = async <Listed>(page: (token: string | undefined) => Promise<Page<Listed>>): Promise<Listed[]> => {
  const listed: Listed[] = [];
  let token: string | undefined;
  for (let pages = 0; pages < MAX_LISTED_PAGES; pages++) {
    const { found, next } = await page(token);
    listed.push(...found);
    token = next;
    if (token === undefined) return listed;
  }
  throw new Error(`A list of SageMaker has more than ${MAX_LISTED_PAGES} pages.`);
};

const allNames = async (
  page: (token: string | undefined) => Promise<{ names: readonly (string | undefined)[]; next: string | undefined }>,
): Promise<string[]> => {
  const names = await allOf(async (token) => {
    const { names: found, next } = await page(token);
    return { found, next };
  });
  return names.filter((name) => name !== undefined);
};

const orNone = async <Described>(described: Promise<Described>): Promise<Described | undefined> => {
  try {
    return await described;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
};

const instancesOf = ({ ProductionVariants = [] }: DescribeEndpointCommandOutput): DescribedEndpoint['instances'] =>
  ProductionVariants.flatMap(({ InstancePools, CurrentInstanceCount = 0 }) =>
    InstancePools && InstancePools.length > 0
      ? InstancePools.map((pool) => ({ instance_type: pool.InstanceType as string | undefined, instances: pool.CurrentInstanceCount ?? 0 }))
      : [{ instances: CurrentInstanceCount }],
  ).filter(({ instances }) => instances > 0);

/** An inference component of an endpoint, as it is listed. */
export interface ListedComponent {
  name: string;
  /** SageMaker's `InferenceComponentStatus`. */
  status: string;
}

/** Calls SageMaker's control API for deployments. No other code does. */
export const createSageMaker = (client: SageMakerClient) => ({
  /** Undefined if it does not exist. */
  describeEndpoint: async (name: string): Promise<DescribedEndpoint | undefined> => {
    const described = await orNone(client.send(new DescribeEndpointCommand({ EndpointName: name })));
    if (!described) return undefined;
    const { EndpointStatus = 'Unknown', FailureReason: failure } = described;
    const instances = instancesOf(described);
    const running = instances.reduce((sum, { instances: count }) => sum + count, 0);
    const wanted = (described.ProductionVariants ?? []).reduce((sum, { DesiredInstanceCount = 0 }) => sum + DesiredInstanceCount, 0);
    const missingInstances = Math.max(0, wanted - running);
    return { status: EndpointStatus, ...(failure !== undefined && { failure }), instances, missingInstances };
  },

  /** Undefined if it does not exist. */
  describeComponent: async (name: string): Promise<DescribedComponent | undefined> => {
    const described = await orNone(client.send(new DescribeInferenceComponentCommand({ InferenceComponentName: name })));
    if (!described) return undefined;
    const { InferenceComponentStatus = 'Unknown', FailureReason: failure, RuntimeConfig } = described;
    const { DesiredCopyCount: wantedCopies = 0, CurrentCopyCount: copies = 0 } = RuntimeConfig ?? {};
    return {
      status: InferenceComponentStatus,
      ...(failure !== undefined && { failure }),
      wantedCopies,
      copies: Math.min(copies, wantedCopies),
    };
  },

  hasModel: async (name: string): Promise<boolean> =>
    (await orNone(client.send(new DescribeModelCommand({ ModelName: name })))) !== undefined,

  hasConfig: async (name: string): Promise<boolean> =>
    (await orNone(client.send(new DescribeEndpointConfigCommand({ EndpointConfigName: name })))) !== undefined,

  createModel: async ({ model }: GenerationResources): Promise<void> => void (await client.send(new CreateModelCommand(model))),
  createConfig: async ({ config }: GenerationResources): Promise<void> => void (await client.send(new CreateEndpointConfigCommand(config))),
  createEndpoint: async ({ endpoint }: GenerationResources): Promise<void> => void (await client.send(new CreateEndpointCommand(endpoint))),
  createComponent: async ({ component }: GenerationResources): Promise<void> =>
    void (await client.send(new CreateInferenceComponentCommand(component))),

  setCopies: async (name: string, copies: number): Promise<void> =>
    void (await client.send(
      new UpdateInferenceComponentRuntimeConfigCommand({ InferenceComponentName: name, DesiredRuntimeConfig: { CopyCount: copies } }),
    )),

  createAdapter: async (adapter: CreateInferenceComponentInput): Promise<void> =>
    void (await client.send(new CreateInferenceComponentCommand(adapter))),
  deleteComponent: async (name: string): Promise<void> =>
    void (await client.send(new DeleteInferenceComponentCommand({ InferenceComponentName: name }))),
  deleteEndpoint: async (name: string): Promise<void> => void (await client.send(new DeleteEndpointCommand({ EndpointName: name }))),
  deleteConfig: async (name: string): Promise<void> =>
    void (await client.send(new DeleteEndpointConfigCommand({ EndpointConfigName: name }))),
  deleteModel: async (name: string): Promise<void> => void (await client.send(new DeleteModelCommand({ ModelName: name }))),

  /** The components on an endpoint, even if it no longer exists. */
  listComponentsOn: async (endpoint: string): Promise<ListedComponent[]> => {
    const listed = allOf(async (NextToken) => {
      const input = { EndpointNameEquals: endpoint, MaxResults: PAGE_SIZE, NextToken };
      const { InferenceComponents = [], NextToken: next } = await client.send(new ListInferenceComponentsCommand(input));
      const found = InferenceComponents.map(({ InferenceComponentName: name = '', InferenceComponentStatus: status = 'Unknown' }) => ({
        name,
        status,
      }));
      return { found, next };
    });
    return (await orNone(listed)) ?? [];
  },

  /** The names of all models, configurations, endpoints and components that begin with a prefix. */
  listByPrefix: async (prefix: string): Promise<string[]> => {
    const page = { NameContains: prefix, MaxResults: PAGE_SIZE };
    const lists = await Promise.all([
      allNames(async (NextToken) => {
        const { Models = [], NextToken: next } = await client.send(new ListModelsCommand({ ...page, NextToken }));
        return { names: Models.map(({ ModelName }) => ModelName), next };
      }),
      allNames(async (NextToken) => {
        const { EndpointConfigs = [], NextToken: next } = await client.send(new ListEndpointConfigsCommand({ ...page, NextToken }));
        return { names: EndpointConfigs.map(({ EndpointConfigName }) => EndpointConfigName), next };
      }),
      allNames(async (NextToken) => {
        const { Endpoints = [], NextToken: next } = await client.send(new ListEndpointsCommand({ ...page, NextToken }));
        return { names: Endpoints.map(({ EndpointName }) => EndpointName), next };
      }),
      allNames(async (NextToken) => {
        const { InferenceComponents = [], NextToken: next } = await client.send(new ListInferenceComponentsCommand({ ...page, NextToken }));
        return { names: InferenceComponents.map(({ InferenceComponentName }) => InferenceComponentName), next };
      }),
    ]);
    // SageMaker's NameContains ignores case and position.
    return [...new Set(lists.flat())].filter((name) => name.startsWith(prefix));
  },
});

export type SageMaker = ReturnType<typeof createSageMaker>;
