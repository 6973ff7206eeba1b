import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { adapterNameOf, awsNameOf } from '../../../shared/deployments/names.ts';
import type { DeploymentReason } from '../../../shared/deployments/reason.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { AdapterFiles } from '../adapters/adapter-files.ts';
import { isBusy, isNameTaken, isRetryable, lacksPart } from '../aws/errors.ts';
import { adapterResource, type Installation, resourcesOf } from '../aws/generation-resources.ts';
import type { SageMaker } from '../aws/sagemaker.ts';
import type { Scaling } from '../aws/scaling.ts';
import { reasonOfRejection } from '../reasons.ts';
import { CREATIONS, type SageMakerCall } from './calls.ts';

export interface AwsWriter {
  sageMaker: SageMaker;
  scaling: Scaling;
  installation: Installation;
  files: AdapterFiles;
  /** False if there is no time for another call. */
  hasTime: () => boolean;
}

/** A call that can't succeed unchanged. */
export interface Rejection {
  call: SageMakerCall;
  reason: DeploymentReason;
}

const execute = async (
  { sageMaker, scaling, files, installation }: AwsWriter,
  deployment: Deployment,
  call: SageMakerCall,
): Promise<void> => {
  const name = awsNameOf(installation.name, deployment.id, call.generation);
  const resources = () => {
    const generation = deployment.generations.find(({ number }) => number === call.generation);
    if (!generation) throw new Error(`${deployment.id} has no generation ${call.generation}.`);
    return resourcesOf(installation, deployment, generation);
  };
  switch (call.kind) {
    case 'create_model':
      return sageMaker.createModel(resources());
    case 'create_config':
      return sageMaker.createConfig(resources());
    case 'create_endpoint':
      return sageMaker.createEndpoint(resources());
    case 'create_component':
      return sageMaker.createComponent(resources());
    case 'set_copies':
      return sageMaker.setCopies(name, call.copies);
    case 'register_scaling':
      return scaling.register(name, call.target);
    case 'put_policy':
      return scaling.putPolicy(name, call.requestsPerCopy);
    case 'deregister_scaling':
      return scaling.deregister(name);
    case 'create_adapter':
      return sageMaker.createAdapter(adapterResource(installation, deployment, call.generation, { id: call.adapter }));
    case 'delete_adapter':
      return sageMaker.deleteComponent(call.component);
    case 'delete_archive':
      return files.remove(call.key);
    case 'delete_component':
      return sageMaker.deleteComponent(name);
    case 'delete_endpoint':
      return sageMaker.deleteEndpoint(name);
    case 'delete_config':
      return sageMaker.deleteConfig(name);
    case 'delete_model':
      return sageMaker.deleteModel(name);
  }
};

// Truthy if what a call creates or deletes exists.
const resourceOf = (
  { sageMaker, scaling, files }: AwsWriter,
  name: string,
  call: Exclude<SageMakerCall, { kind: 'set_copies' | 'register_scaling' | 'put_policy' }>,
): Promise<unknown> => {
  switch (call.kind) {
    case 'create_model':
    case 'delete_model':
      return sageMaker.hasModel(name);
    case 'create_config':
    case 'delete_config':
      return sageMaker.hasConfig(name);
    case 'create_endpoint':
    case 'delete_endpoint':
      return sageMaker.describeEndpoint(name);
    case 'create_component':
    case 'delete_component':
      return sageMaker.describeComponent(name);
    case 'create_adapter':
      return sageMaker.describeComponent(adapterNameOf(name, call.adapter));
    case 'delete_adapter':
      return sageMaker.describeComponent(call.component);
    case 'delete_archive':
      return files.list(call.key).then((keys) => keys.includes(call.key));
    case 'deregister_scaling':
      return scaling.describe(name);
  }
};

const isDone = async (aws: AwsWriter, deployment: Deployment, call: SageMakerCall): Promise<boolean> => {
  const name = awsNameOf(aws.installation.name, deployment.id, call.generation);
  switch (call.kind) {
    case 'set_copies': {
      const component = await aws.sageMaker.describeComponent(name);
      return component?.wantedCopies === call.copies && component.status !== 'Failed';
    }
    case 'register_scaling':
    case 'put_policy':
      return false;
    default:
      return Boolean(await resourceOf(aws, name, call)) === call.kind.startsWith('create_');
  }
};

type Outcome = 'done' | 'again' | Rejection;

// If a call fails, check if its effect already exists before treating it as rejected.
const makeCall = async (aws: AwsWriter, deployment: Deployment, call: SageMakerCall): Promise<Outcome> => {
  try {
    await execute(aws, deployment, call);
    return 'done';
  } catch (error) {
    const facts = { deployment: deployment.id, generation: call.generation, call: call.kind };
    const isCreation = CREATIONS.has(call.kind) || call.kind === 'create_adapter';
    // The next pass finds or recreates a missing prerequisite.
    if (isRetryable(error) || isBusy(error) || (isCreation && lacksPart(error))) {
      logError('aws_call_delayed', error, facts);
      return 'again';
    }
    const done = await isDone(aws, deployment, call).catch((lookError: unknown) => {
      if (isRetryable(lookError)) return undefined;
      throw lookError;
    });
    if (done !== false) return done ? 'done' : 'again';
    if (isCreation && isNameTaken(error)) {
      logError('aws_call_delayed', error, facts);
      return 'again';
    }
    const reason = reasonOfRejection(error);
    logError('aws_call_rejected', error, { ...facts, reason: reason.code, is_repeated: !CREATIONS.has(call.kind) });
    return { call, reason };
  }
};

/**
 * Makes the calls of a pass, each generation's in order until one does not succeed. The next pass makes the others.
 * @returns the rejected ones
 */
export const perform = async (aws: AwsWriter, deployment: Deployment, calls: readonly SageMakerCall[]): Promise<Rejection[]> => {
  const rejections: Rejection[] = [];
  const stopped = new Set<number>();
  for (const call of calls) {
    if (stopped.has(call.generation)) continue;
    if (!aws.hasTime()) break;
    const outcome = await makeCall(aws, deployment, call);
    if (outcome === 'done') continue;
    stopped.add(call.generation);
    if (outcome !== 'again') rejections.push(outcome);
  }
  return rejections;
};
