import * as z from 'zod';
import type { Need } from '../evaluate.ts';
import { arnOf, CALLED_VIA, NO_CONTEXT, operationOf, type ToNeeds, unknown } from './arn.ts';

const json = (body: Buffer): unknown => JSON.parse(body.toString() || '{}');

export const lambdaNeeds: ToNeeds = ({ url, region }) => {
  const [, name] =
    /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(decodeURIComponent(url.pathname)) ?? unknown('Lambda', url.pathname);
  const resource = name?.startsWith('arn:') ? name : arnOf('lambda', region, `function:${name}`);
  return [{ action: 'lambda:InvokeFunction', resource, context: NO_CONTEXT }];
};

const Queue = z.object({ QueueUrl: z.url() });

export const sqsNeeds: ToNeeds = (call) => {
  const name = new URL(Queue.parse(json(call.body)).QueueUrl).pathname.split('/').at(-1) ?? '';
  // The entries of a batch need the action for a single message.
  return [{ action: `sqs:${operationOf(call).replace(/Batch$/, '')}`, resource: arnOf('sqs', call.region, name), context: NO_CONTEXT }];
};

const Email = z.object({ FromEmailAddress: z.string() });

export const sesNeeds: ToNeeds = ({ method, url, body, region }) => {
  if (method !== 'POST' || url.pathname !== '/v2/email/outbound-emails') return unknown('SES', `${method} ${url.pathname}`);
  const { FromEmailAddress: from } = Email.parse(json(body));
  const address = /<([^>]+)>/.exec(from)?.[1] ?? from;
  return [{ action: 'ses:SendEmail', resource: arnOf('ses', region, `identity/${address}`), context: { 'ses:FromAddress': [address] } }];
};

const Pool = z.object({ UserPoolId: z.string() });

export const cognitoNeeds: ToNeeds = (call) => {
  const { UserPoolId } = Pool.parse(json(call.body));
  return [
    {
      action: `cognito-idp:${operationOf(call)}`,
      resource: arnOf('cognito-idp', call.region, `userpool/${UserPoolId}`),
      context: NO_CONTEXT,
    },
  ];
};

const SecretName = z.union([
  z.object({ Name: z.string() }).transform(({ Name }) => Name),
  z.object({ SecretId: z.string() }).transform(({ SecretId }) => SecretId),
]);
// AWS ends the ARN of a secret with a hyphen and six characters of its own.
const SECRET_SUFFIX = '-AbCdEf';

export const secretsNeeds: ToNeeds = (call) => {
  const name = SecretName.parse(json(call.body));
  const resource = arnOf('secretsmanager', call.region, `secret:${name}${SECRET_SUFFIX}`);
  return [{ action: `secretsmanager:${operationOf(call)}`, resource, context: NO_CONTEXT }];
};

const Scaling = z.object({ ServiceNamespace: z.string(), ScalableDimension: z.string().optional() });

// Application Auto Scaling makes these calls as its caller, with the kinds of resources that they are made on.
const SCALING_CALLS = {
  DescribeEndpoint: 'endpoint',
  DescribeEndpointConfig: 'endpoint-config',
  DescribeInferenceComponent: 'inference-component',
  UpdateInferenceComponentRuntimeConfig: 'inference-component',
} as const;
// No resource has this name.
const NO_RESOURCE = '7f4e1944-0000-4000-8000-000000000000';
const BY_SCALING = { [CALLED_VIA]: ['application-autoscaling.amazonaws.com'] };

// https://docs.aws.amazon.com/autoscaling/application/userguide/security_iam_permission_validation.html
const registrationNeeds = (region: string): Need[] =>
  Object.entries(SCALING_CALLS).map(([operation, kind]) => ({
    action: `sagemaker:${operation}`,
    resource: arnOf('sagemaker', region, `${kind}/${NO_RESOURCE}`),
    context: BY_SCALING,
  }));

/** https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsapplicationautoscaling.html */
export const autoscalingNeeds: ToNeeds = (call) => {
  const operation = operationOf(call);
  const action = `application-autoscaling:${operation}`;
  if (operation.startsWith('Describe')) return [{ action, resource: '*', context: NO_CONTEXT }];
  const { ServiceNamespace: namespace, ScalableDimension: dimension } = Scaling.parse(json(call.body));
  const context = {
    'application-autoscaling:service-namespace': [namespace],
    ...(dimension !== undefined && { 'application-autoscaling:scalable-dimension': [dimension] }),
  };
  // The id of a scalable target is AWS's own.
  const own = { action, resource: arnOf('application-autoscaling', call.region, 'scalable-target/0'), context };
  return [own, ...(operation === 'RegisterScalableTarget' ? registrationNeeds(call.region) : [])];
};

const LogGroup = z.object({ logGroupName: z.string() });

export const logsNeeds: ToNeeds = (call) => {
  const { logGroupName } = LogGroup.parse(json(call.body));
  return [{ action: `logs:${operationOf(call)}`, resource: arnOf('logs', call.region, `log-group:${logGroupName}`), context: NO_CONTEXT }];
};

// These actions know no resources.
const withoutResource =
  (prefix: string): ToNeeds =>
  (call) => [{ action: `${prefix}:${operationOf(call)}`, resource: '*', context: NO_CONTEXT }];

export const quotasNeeds = withoutResource('servicequotas');
export const taggingNeeds = withoutResource('tag');
