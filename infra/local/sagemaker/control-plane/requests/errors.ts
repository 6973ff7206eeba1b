import { AwsError } from '../../../http/json-api.ts';
import { quotaName } from '../../../quotas/endpoint-quotas.ts';
import { arnOf, type Kind } from './names.ts';

// SageMaker's errors have these words for the kinds.
const WORDS: Readonly<Record<Kind, string>> = {
  model: 'model',
  'endpoint-config': 'endpoint configuration',
  endpoint: 'endpoint',
  'inference-component': 'inference component',
};

export const invalid = (message: string): AwsError => new AwsError('ValidationException', message);

export const notFound = (kind: Kind, name: string): AwsError => invalid(`Could not find ${WORDS[kind]} "${arnOf(kind, name)}".`);

export const alreadyExists = (kind: Kind, name: string): AwsError =>
  invalid(`Cannot create already existing ${WORDS[kind]} "${arnOf(kind, name)}".`);

/** An endpoint that is being created, updated or deleted accepts no update and no deletion. */
export const endpointInProgress = (name: string): AwsError => invalid(`Cannot update in-progress endpoint "${arnOf('endpoint', name)}".`);

export const hasComponents = (): AwsError =>
  invalid('Cannot delete endpoint with inference component associated. Please delete inference component and try it again.');

/** @param verb such as `update` */
export const busy = (verb: string, kind: Kind, name: string, status: string): AwsError =>
  invalid(`Cannot ${verb} ${WORDS[kind]} "${arnOf(kind, name)}" while it is in state ${status}.`);

export const baseOfAdapters = (name: string): AwsError =>
  invalid(
    `Cannot delete "${arnOf('inference-component', name)}": it is a base inference component for one or more associated inference components.`,
  );

export const overQuota = (instanceType: string, limit: number, used: number, delta: number): AwsError =>
  new AwsError(
    'ResourceLimitExceeded',
    `The account-level service limit '${quotaName(instanceType)}' is ${limit} Instances, with current utilization of ${used} Instances and a request delta of ${delta} Instances. Please use AWS Service Quotas to request an increase for this quota. If AWS Service Quotas is not available, contact AWS support to request an increase for this quota.`,
  );

/** Also the failure reason of a component for which no instance has room. */
export const NOT_ENOUGH_HARDWARE =
  'There is not enough hardware resources on the instances for this endpoint to create a copy of the inference component. Please update resource requirements for this inference component, remove existing inference components, or increase the number of instances for this endpoint.';

/** Failure reasons of endpoints and components. */
export const FAILURES = {
  insufficientCapacity:
    'Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error. Please retry using a different ML instance type or after some time.',
  imagePull:
    "CannotStartContainerError. Please ensure the model container for variant AllTraffic starts correctly when invoked with 'docker run <image> serve'.",
  crashLoop: 'Container failed to start. Please check CloudWatch logs for this inference component.',
  healthCheck: 'Failed to pass ping health check. Please check CloudWatch logs for this inference component.',
  modelMissing: 'Could not find the model of the inference component. It was deleted before this copy started.',
  adapterNotLoaded: 'Failed to load the adapter. The container of the base inference component was started without support for adapters.',
  stuck: 'Request to service failed. If failure persists after retry, contact customer support.',
} as const;
