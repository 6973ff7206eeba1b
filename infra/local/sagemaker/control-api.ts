import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { ACCOUNT_ID, REGION } from '../assembly/resolve.ts';
import type { ContainerTarget } from './container-request.ts';

type Endpoints = ReadonlyMap<string, ContainerTarget>;

const VARIANT = 'AllTraffic';
const DEFAULT_TAGS = { sluice: 'true' };
/** SageMaker's minimum and default page size. */
const TAGS_PAGE = 50;
const MAX_TAGS_PAGE = 100;

/** An error response of the control API, always with status 400. */
class ControlApiError extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

const notFound = (what: string, name: string): ControlApiError =>
  new ControlApiError('ValidationException', `Could not find ${what} "${name}".`);
const arnOf = (kind: 'endpoint' | 'inference-component', name: string): string =>
  `arn:aws:sagemaker:${REGION}:${ACCOUNT_ID}:${kind}/${name}`;
/** In seconds, as in JSON 1.1. They never change here. */
const times = { CreationTime: 1_700_000_000, LastModifiedTime: 1_700_000_000 };

const describeEndpoint = (endpoints: Endpoints, input: unknown): object => {
  const { EndpointName: name } = read(z.object({ EndpointName: z.string() }), input);
  const target = endpoints.get(name);
  if (!target) throw notFound('endpoint', arnOf('endpoint', name));
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

const describeComponent = (endpoints: Endpoints, input: unknown): object => {
  const { InferenceComponentName: name } = read(z.object({ InferenceComponentName: z.string() }), input);
  const found = findComponent(endpoints, name);
  if (!found) throw notFound('inference component', arnOf('inference-component', name));
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

const listTags = (endpoints: Endpoints, input: unknown): object => {
  const { ResourceArn: arn, NextToken: start, MaxResults: size } = read(ListTagsInput, input);
  const tags = tagsOf(endpoints, arn);
  if (!tags) throw notFound('resource', arn);
  const all = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const end = start + size;
  return { Tags: all.slice(start, end), ...(end < all.length && { NextToken: String(end) }) };
};

const OPERATIONS: ReadonlyMap<string, (endpoints: Endpoints, input: unknown) => object> = new Map([
  ['SageMaker.DescribeEndpoint', describeEndpoint],
  ['SageMaker.DescribeInferenceComponent', describeComponent],
  ['SageMaker.ListTags', listTags],
]);

/**
 * Serves SageMaker's control API, in JSON 1.1: DescribeEndpoint, DescribeInferenceComponent and ListTags.
 * @param operation the header `x-amz-target`
 */
export const serveControlApi = (endpoints: Endpoints, operation: string, body: Buffer, response: ServerResponse): void => {
  try {
    const perform = OPERATIONS.get(operation);
    if (!perform) throw new ControlApiError('UnknownOperationException', `The local run does not support ${operation}.`);
    send(response, 200, perform(endpoints, parseJson(body)));
  } catch (error) {
    if (!(error instanceof ControlApiError)) throw error;
    send(response, 400, { __type: error.type, message: error.message });
  }
};

const read = <Input extends z.ZodType>(schema: Input, value: unknown): z.output<Input> => {
  const { data, error } = schema.safeParse(value);
  if (error)
    throw new ControlApiError('ValidationException', `${error.issues.length} validation errors detected: ${z.prettifyError(error)}`);
  return data;
};

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ControlApiError('SerializationException', 'The body is not JSON.');
  }
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'x-amzn-RequestId': randomUUID(), 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(body));
};
