import type { Deployment, Generation } from '../../../shared/deployments/deployment.ts';
import { archivePrefixOf, awsNameOf, awsPrefixOf } from '../../../shared/deployments/names.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { AdapterFiles } from '../adapters/adapter-files.ts';
import type { ContainerLog } from '../aws/container-log.ts';
import type { DescribedComponent, DescribedEndpoint, ListedComponent, SageMaker } from '../aws/sagemaker.ts';
import type { DescribedScaling, Scaling } from '../aws/scaling.ts';
import type { ListTagged } from '../aws/tagged-resources.ts';
import { readStartLog, type StartLog } from './crash-loop.ts';
import { startOf } from './start-of-copies.ts';

/** The parts of a generation that exist on AWS. */
export interface ObservedGeneration {
  hasModel: boolean;
  hasConfig: boolean;
  endpoint?: DescribedEndpoint;
  component?: DescribedComponent;
  /** Other components on its endpoint; read only if it can have some. */
  adapters: readonly ListedComponent[];
  scaling?: DescribedScaling;
  /** Read only while copies are starting or after they failed; absent if it can't be read. */
  log?: StartLog;
}

/** The parts of a deployment that exist on AWS. */
export interface Observed {
  generations: ReadonlyMap<number, ObservedGeneration>;
  /** The keys of its archives; read only if it can have some. */
  archives: readonly string[];
  /** Names found by prefix and by tag. Read only if the deployment is to be deleted. */
  listed?: readonly string[];
}

export interface AwsReader {
  sageMaker: SageMaker;
  scaling: Scaling;
  log: ContainerLog;
  listTagged: ListTagged;
  files: Pick<AdapterFiles, 'list'>;
  /** The prefix of this installation's names. */
  installation: string;
}

export const NOTHING: ObservedGeneration = { hasModel: false, hasConfig: false, adapters: [] };

/** True if nothing of a generation exists on AWS. */
export const isEmpty = ({ hasModel, hasConfig, endpoint, component, adapters, scaling }: ObservedGeneration): boolean =>
  !hasModel && !hasConfig && !endpoint && !component && adapters.length === 0 && !scaling;

/** True if a generation is to be removed from AWS. */
export const isLeaving = ({ wanted }: Deployment, generation: Generation | undefined): boolean =>
  wanted !== 'running' || !generation || generation.status === 'failed' || generation.status === 'retired';

const readLog = async (
  { log }: AwsReader,
  name: string,
  deployment: Deployment,
  generation: Generation,
  component: DescribedComponent | undefined,
): Promise<StartLog | undefined> => {
  const sinceMs = startOf(deployment, generation);
  // Errors from before the start are those of requests.
  if (!component || sinceMs === undefined) return undefined;
  const { status, copies, wantedCopies } = component;
  const isStarting = copies < wantedCopies && status !== 'Deleting';
  if (!isStarting && status !== 'Failed') return undefined;
  return readStartLog(log, name, sinceMs, wantedCopies).catch((error: unknown) => {
    // The log only explains failures, which are found later without it. Nothing else must wait for it.
    logError('container_log_unread', error, { deployment: deployment.id });
    return undefined;
  });
};

const observeGeneration = async (aws: AwsReader, deployment: Deployment, number: number): Promise<ObservedGeneration> => {
  const generation = deployment.generations.find((other) => other.number === number);
  const name = awsNameOf(aws.installation, deployment.id, number);
  const leaves = isLeaving(deployment, generation);
  const [hasModel, hasConfig, endpoint, component, scaling, components] = await Promise.all([
    aws.sageMaker.hasModel(name),
    aws.sageMaker.hasConfig(name),
    aws.sageMaker.describeEndpoint(name),
    aws.sageMaker.describeComponent(name),
    aws.scaling.describe(name),
    leaves || generation?.adapters ? aws.sageMaker.listComponentsOn(name) : [],
  ]);
  const log = leaves || !generation ? undefined : await readLog(aws, name, deployment, generation, component);
  return {
    hasModel,
    hasConfig,
    ...(endpoint && { endpoint }),
    ...(component && { component }),
    adapters: components.filter((other) => other.name !== name),
    ...(scaling && { scaling }),
    ...(log && { log }),
  };
};

const numberOf = (prefix: string, name: string): number | undefined => {
  // SageMaker ignores the case of names, and writes ARNs in lower case.
  const rest = name.toLowerCase().startsWith(prefix.toLowerCase()) ? name.slice(prefix.length) : '';
  // The name of an adapter has more behind the number.
  const [, number] = /^([1-9]\d{0,8})(?:-.*)?$/.exec(rest) ?? [];
  return number === undefined ? undefined : Number(number);
};

/** Reads everything that a deployment has on AWS. @throws the SDK's errors */
export const observe = async (aws: AwsReader, deployment: Deployment): Promise<Observed> => {
  const numbers = new Set(deployment.generations.map(({ number }) => number));
  const prefix = awsPrefixOf(aws.installation, deployment.id);
  let listed: string[] | undefined;
  if (deployment.wanted === 'deleted') {
    const lists = await Promise.all([aws.sageMaker.listByPrefix(prefix), aws.listTagged(deployment.id)]);
    listed = [...new Set(lists.flat())];
    for (const name of listed) {
      const number = numberOf(prefix, name);
      if (number !== undefined) numbers.add(number);
    }
  }
  const { organization, id, adapters = [], wanted } = deployment;
  const hasArchives = adapters.length > 0 || wanted === 'deleted';
  const [archives, ...found] = await Promise.all([
    hasArchives ? aws.files.list(archivePrefixOf(organization, id)) : [],
    ...[...numbers].map(async (number) => [number, await observeGeneration(aws, deployment, number)] as const),
  ]);
  return { generations: new Map(found), archives, ...(listed && { listed }) };
};
