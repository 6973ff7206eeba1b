import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { AwsError, parseBody, readInput, wireTime } from '../http/json-api.ts';
import type { Account } from './account.ts';
import type { ContainerTarget } from './container-request.ts';
import { arnOf } from './control-plane/requests/names.ts';

type Endpoints = ReadonlyMap<string, ContainerTarget>;

const VARIANT = 'AllTraffic';
const DEFAULT_TAGS = { sluice: 'true' };
// SageMaker's minimum and default page size.
const TAGS_PAGE = 50;
const MAX_TAGS_PAGE = 100;

const CREATED_AT_MS = 1_700_000_000_000;
const times = { CreationTime: wireTime(CREATED_AT_MS), LastModifiedTime: wireTime(CREATED_AT_MS) };

const describeEndpoint = (endpoints: Endpoints, input: unknown): object | undefined => {
  const { EndpointName: name } = readInput(z.object({ EndpointName: z.string() }), input);
  const target = endpoints.get(name);
  if (!target) return undefined;
  return {
    EndpointName: name,
    EndpointArn: arnOf('endpoint', name),
    EndpointConfigName: `${name}-config`,
    EndpointStatus: target.status ?? 'InService',
    ProductionVariants: [{ VariantName: VARIANT, CurrentWeight: 1, DesiredWeight: 1, CurrentInstanceCount: 1, DesiredInstanceCount: 1 }],
    ...times,
  };
};

const findComponent = (endpoints: Endpoints, name: string): readonly [string, ContainerTarget] | undefined =>
  [...endpoints].find(([, { component }]) => component === name);

const describeComponent = (endpoints: Endpoints, input: unknown): object | undefined => {
  const { InferenceComponentName: name } = readInput(z.object({ InferenceComponentName: z.string() }), input);
  const found = findComponent(endpoints, name);
  if (!found) return undefined;
  const [endpoint, { componentStatus = 'InService' }] = found;
  const copies = componentStatus === 'InService' ? 1 : 0;
  return {
    InferenceComponentName: name,
    InferenceComponentArn: arnOf('inference-component', name),
    EndpointName: endpoint,
    EndpointArn: arnOf('endpoint', endpoint),
    VariantName: VARIANT,
    InferenceComponentStatus: componentStatus,
    RuntimeConfig: { DesiredCopyCount: 1, CurrentCopyCount: copies },
    ...times,
  };
};

const tagsOf = (endpoints: Endpoints, arn: string): Readonly<Record<string, string>> | undefined => {
  const name = arn.slice(arn.indexOf('/') + 1);
  const component = arn === arnOf('inference-component', name) && findComponent(endpoints, name);
  if (component) return component[1].componentTags ?? DEFAULT_TAGS;
  const endpoint = arn === arnOf('endpoint', name) && endpoints.get(name);
  return endpoint ? (endpoint.tags ?? DEFAULT_TAGS) : undefined;
};

const ListTagsInput = z.object({
  ResourceArn: z.string(),
  /** Index of the first tag of the page. */
  NextToken: z.coerce.number<string>().int().min(0).default(0),
  MaxResults: z.int().min(TAGS_PAGE).max(MAX_TAGS_PAGE).default(TAGS_PAGE),
});

const listTags = (endpoints: Endpoints, input: unknown): object | undefined => {
  const { ResourceArn: arn, NextToken: start, MaxResults: size } = readInput(ListTagsInput, input);
  const tags = tagsOf(endpoints, arn);
  if (!tags) return undefined;
  const all = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const end = start + size;
  return { Tags: all.slice(start, end), ...(end < all.length && { NextToken: String(end) }) };
};

// Tests and the demo set up endpoints without the control plane. Other resources are undefined.
const OPERATIONS: ReadonlyMap<string, (endpoints: Endpoints, input: unknown) => object | undefined> = new Map([
  ['SageMaker.DescribeEndpoint', describeEndpoint],
  ['SageMaker.DescribeInferenceComponent', describeComponent],
  ['SageMaker.ListTags', listTags],
]);

// Undefined if the call is about anything but an endpoint that was set up.
const staticReply = (endpoints: Endpoints, operation: string, body: Buffer): object | undefined => {
  try {
    return OPERATIONS.get(operation)?.(endpoints, parseBody(body));
  } catch (error) {
    if (error instanceof AwsError) return undefined;
    throw error;
  }
};

/**
 * Serves the control planes of SageMaker, Application Auto Scaling, CloudWatch Logs and Service Quotas, in JSON 1.1.
 * @param endpoints those that were set up; lists don't contain them
 * @param operation the header `x-amz-target`
 */
export const serveControlApi = (
  { endpoints, account }: { endpoints: Endpoints; account: Account },
  operation: string,
  body: Buffer,
  response: ServerResponse,
): void => {
  const known = staticReply(endpoints, operation, body);
  const reply = known ? { kind: 'reply' as const, status: 200, body: known } : account.call(operation, body);
  if (reply.kind === 'lost') response.destroy();
  else send(response, reply.status, reply.body);
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'x-amzn-RequestId': randomUUID(), 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(body));
};
