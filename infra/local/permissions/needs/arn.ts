import { ACCOUNT_ID } from '../../../assembly/resolve.ts';
import type { Need } from '../evaluate.ts';

/** The parts of a call from which its required permissions follow. */
export interface ServiceCall {
  method: string;
  /** The path and the query, with the bucket or function in the path. */
  url: URL;
  header(name: string): string | undefined;
  body: Buffer;
  region: string;
  /** The tags of a SageMaker resource, as condition keys. */
  tagsOf(arn: string): Promise<Need['context']>;
}

/** The needs of a call. @throws Error if the mapping doesn't know the operation */
export type ToNeeds = (call: ServiceCall) => Promise<Need[]> | Need[];

export const arnOf = (service: string, region: string, resource: string): string =>
  `arn:aws:${service}:${region}:${ACCOUNT_ID}:${resource}`;

/** The part of `X-Amz-Target` after the dot. */
export const operationOf = (call: ServiceCall): string => {
  const operation = call.header('x-amz-target')?.split('.')[1];
  if (operation === undefined) throw new Error(`no X-Amz-Target: ${call.method} ${call.url.pathname}`);
  return operation;
};

export const unknown = (service: string, operation: string): never => {
  throw new Error(`the permission check does not know ${operation} of ${service}`);
};

export const NO_CONTEXT: Need['context'] = {};

/** The condition key with the service that makes a call with the permissions of its own caller. */
export const CALLED_VIA = 'aws:CalledViaLast';
