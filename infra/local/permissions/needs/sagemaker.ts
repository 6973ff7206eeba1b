import * as z from 'zod';
import type { Need } from '../evaluate.ts';
import { arnOf, NO_CONTEXT, operationOf, type ServiceCall, type ToNeeds, unknown } from './arn.ts';

const INVOCATION = /^\/endpoints\/([^/]+)\/invocations(-response-stream)?$/;
const COMPONENT = 'x-amzn-sagemaker-inference-component';

const Input = z.object({
  ModelName: z.string().optional(),
  EndpointConfigName: z.string().optional(),
  EndpointName: z.string().optional(),
  InferenceComponentName: z.string().optional(),
  ResourceArn: z.string().optional(),
  ExecutionRoleArn: z.string().optional(),
  Tags: z.array(z.object({ Key: z.string(), Value: z.string() })).default([]),
});
type Input = z.output<typeof Input>;

// Names of operations end with these; the longest come first.
const KINDS: readonly (readonly [suffix: string, kind: string, name: keyof Input])[] = [
  ['InferenceComponentRuntimeConfig', 'inference-component', 'InferenceComponentName'],
  ['InferenceComponent', 'inference-component', 'InferenceComponentName'],
  ['EndpointConfig', 'endpoint-config', 'EndpointConfigName'],
  ['Endpoint', 'endpoint', 'EndpointName'],
  ['Model', 'model', 'ModelName'],
];

// By AWS's service authorization reference, the streaming call needs the action of the other one, too.
const invocationNeeds = async (call: ServiceCall, endpoint: string, isStream: boolean): Promise<Need[]> => {
  const component = call.header(COMPONENT);
  const names = [`endpoint/${endpoint}`, ...(component === undefined ? [] : [`inference-component/${component}`])];
  const actions = ['sagemaker:InvokeEndpoint', ...(isStream ? ['sagemaker:InvokeEndpointWithResponseStream'] : [])];
  const arns = names.map((name) => arnOf('sagemaker', call.region, name));
  return (
    await Promise.all(
      arns.map(async (resource) => {
        const context = await call.tagsOf(resource);
        return actions.map((action) => ({ action, resource, context }));
      }),
    )
  ).flat();
};

// Besides its own action, a new resource is tagged, and run with a role.
const creationNeeds = (call: ServiceCall, input: Input, arns: readonly string[]): Need[] => {
  const tags = Object.fromEntries(input.Tags.map(({ Key, Value }) => [`aws:RequestTag/${Key}`, [Value]]));
  const context = { ...tags, ...(input.Tags.length > 0 && { 'aws:TagKeys': input.Tags.map(({ Key }) => Key) }) };
  const tagging = { ...context, 'sagemaker:TaggingAction': [operationOf(call)] };
  return [
    ...arns.map((resource) => ({ action: `sagemaker:${operationOf(call)}`, resource, context })),
    ...(input.Tags.length > 0 ? arns.slice(0, 1).map((resource) => ({ action: 'sagemaker:AddTags', resource, context: tagging })) : []),
    ...(input.ExecutionRoleArn === undefined
      ? []
      : [{ action: 'iam:PassRole', resource: input.ExecutionRoleArn, context: { 'iam:PassedToService': ['sagemaker.amazonaws.com'] } }]),
  ];
};

/** https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html */
export const sagemakerNeeds: ToNeeds = async (call) => {
  const [, endpoint, stream] = INVOCATION.exec(call.url.pathname) ?? [];
  if (endpoint !== undefined) return invocationNeeds(call, decodeURIComponent(endpoint), stream !== undefined);
  const operation = operationOf(call);
  const input = Input.parse(JSON.parse(call.body.toString()));
  const action = `sagemaker:${operation}`;
  if (operation === 'ListTags' && input.ResourceArn !== undefined) return [{ action, resource: input.ResourceArn, context: NO_CONTEXT }];
  if (operation.startsWith('List')) return [{ action, resource: '*', context: NO_CONTEXT }];
  const [, kind, name] = KINDS.find(([suffix]) => operation.endsWith(suffix)) ?? unknown('SageMaker', operation);
  const arn = arnOf('sagemaker', call.region, `${kind}/${String(input[name])}`);
  if (!operation.startsWith('Create')) return [{ action, resource: arn, context: await call.tagsOf(arn) }];
  // A new endpoint uses its configuration, a new component its endpoint: both are resources of the action.
  const used =
    operation === 'CreateEndpoint'
      ? [arnOf('sagemaker', call.region, `endpoint-config/${input.EndpointConfigName}`)]
      : operation === 'CreateInferenceComponent'
        ? [arnOf('sagemaker', call.region, `endpoint/${input.EndpointName}`)]
        : [];
  return creationNeeds(call, input, [arn, ...used]);
};
