import * as z from 'zod';
import type { FunctionOf } from './interpret-aliases.ts';
import type { GatewayResponseTemplate, RestApi, Route } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';
import type { Stack } from './read-assembly.ts';
import { type Resolve, ROOT_RESOURCE_ID } from './resolve.ts';

const DEFAULT_TIMEOUT_MS = 29_000;
const MAX_PATH_DEPTH = 32;

const ApiProperties = z.object({ BinaryMediaTypes: z.array(z.string()).default([]) });
const StageProperties = z.object({ RestApiId: z.string(), StageName: z.string(), Variables: z.record(z.string(), z.string()).optional() });
const ResourceProperties = z.object({ RestApiId: z.string(), ParentId: z.string(), PathPart: z.string() });
const MethodProperties = z.object({
  RestApiId: z.string(),
  ResourceId: z.string(),
  HttpMethod: z.string(),
  AuthorizationType: z.literal('NONE'),
  ApiKeyRequired: z.literal(false).default(false),
  Integration: z.object({
    Type: z.literal('AWS_PROXY'),
    Uri: z.string(),
    TimeoutInMillis: z.int().default(DEFAULT_TIMEOUT_MS),
    ResponseTransferMode: z.enum(['BUFFERED', 'STREAM']).default('BUFFERED'),
  }),
});
const GatewayResponseProperties = z.object({
  RestApiId: z.string(),
  ResponseType: z.string(),
  StatusCode: z.union([z.string(), z.number()]).transform(Number).optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});

interface PathPart {
  parentId: string;
  part: string;
}

/** Reads the REST APIs of a stack. Throws an Error naming a method that is not a Lambda proxy without authorization. */
export const interpretApis = (stack: Stack, resolve: Resolve, functionOf: FunctionOf): RestApi[] => {
  const located = (type: string): LocatedResource[] =>
    [...stack.resources]
      .filter(([, resource]) => resource.type === type)
      .map(([logicalId, resource]) => ({ stack, logicalId, resource, resolve }));
  const methods = located('AWS::ApiGateway::Method').map((at) => readProperties(at, MethodProperties));
  const stages = located('AWS::ApiGateway::Stage').map((at) => readProperties(at, StageProperties));
  const responses = located('AWS::ApiGateway::GatewayResponse').map((at) => readProperties(at, GatewayResponseProperties));
  const parts = new Map<string, PathPart>();
  for (const at of located('AWS::ApiGateway::Resource')) {
    const { ParentId, PathPart } = readProperties(at, ResourceProperties);
    parts.set(at.logicalId, { parentId: ParentId, part: PathPart });
  }
  return located('AWS::ApiGateway::RestApi').map((at) => {
    const id = String(resolve(stack, { Ref: at.logicalId }));
    const stage = stages.find(({ RestApiId }) => RestApiId === id);
    if (!stage) throw new Error(`The REST API ${at.logicalId} in stack ${stack.name} has no stage`);
    return {
      id,
      stackName: stack.name,
      stage: stage.StageName,
      stageVariables: stage.Variables ?? null,
      binaryMediaTypes: readProperties(at, ApiProperties).BinaryMediaTypes,
      routes: methods.filter(({ RestApiId }) => RestApiId === id).map((method) => toRoute(method, parts, functionOf)),
      gatewayResponses: new Map(
        responses.filter(({ RestApiId }) => RestApiId === id).map((response) => [response.ResponseType, toTemplate(response)]),
      ),
    };
  });
};

const toRoute = (method: z.infer<typeof MethodProperties>, parts: ReadonlyMap<string, PathPart>, functionOf: FunctionOf): Route => {
  const { Uri, TimeoutInMillis, ResponseTransferMode } = method.Integration;
  const [, arn] = /\/functions\/(arn:[^/]+)\//.exec(Uri) ?? [];
  if (arn === undefined) throw new Error(`The integration ${Uri} does not name a Lambda function`);
  return {
    resourceId: method.ResourceId,
    resourcePath: pathOf(method.ResourceId, parts),
    method: method.HttpMethod,
    functionArn: functionOf(arn),
    transferMode: ResponseTransferMode,
    timeoutMs: TimeoutInMillis,
  };
};

const pathOf = (resourceId: string, parts: ReadonlyMap<string, PathPart>): string => {
  const segments: string[] = [];
  let id = resourceId;
  while (id !== ROOT_RESOURCE_ID) {
    const part = parts.get(id);
    if (!part || segments.length === MAX_PATH_DEPTH) throw new Error(`The API resource ${resourceId} has no path to the root`);
    segments.unshift(part.part);
    id = part.parentId;
  }
  return `/${segments.join('/')}`;
};

const toTemplate = (response: z.infer<typeof GatewayResponseProperties>): GatewayResponseTemplate => ({
  statusCode: response.StatusCode,
  parameters: response.ResponseParameters,
  templates: response.ResponseTemplates,
});
