import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { ACCOUNT_ID, REGION } from '../../assembly/resolve.ts';
import { AwsError, type Operations, readInput, wireTime } from '../http/json-api.ts';
import type { ScalableComponents } from './scalable-components.ts';
import type { ScalableTarget, ScalableTargets, ScalingPolicy } from './targets.ts';

const NAMESPACE = 'sagemaker';
const DIMENSION = 'sagemaker:inference-component:DesiredCopyCount';
const PREFIX = 'inference-component/';
// Both are a component's concurrency per copy.
const CONCURRENCY_METRICS = [
  'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution',
  'SageMakerInferenceComponentInvocationsPerCopy',
];
const MAX_PAGE = 50;

const Of = {
  ServiceNamespace: z.literal(NAMESPACE),
  ResourceId: z.string().regex(/^inference-component\/.+/),
  ScalableDimension: z.literal(DIMENSION),
};
const Page = {
  MaxResults: z.int().min(1).max(MAX_PAGE).default(MAX_PAGE),
  /** Index of the first item of the page. */
  NextToken: z.coerce.number<string>().int().min(0).default(0),
};
const Capacity = z.int().min(0).max(10_000);

const RegisterScalableTarget = z.object({
  ...Of,
  MinCapacity: Capacity.optional(),
  MaxCapacity: Capacity.optional(),
  RoleARN: z.string().optional(),
  SuspendedState: z
    .object({
      DynamicScalingInSuspended: z.boolean().optional(),
      DynamicScalingOutSuspended: z.boolean().optional(),
      ScheduledScalingSuspended: z.boolean().optional(),
    })
    .optional(),
});
const DescribeScalableTargets = z.object({
  ServiceNamespace: z.literal(NAMESPACE),
  ResourceIds: z.array(z.string()).max(50).optional(),
  ScalableDimension: z.literal(DIMENSION).optional(),
  ...Page,
});
const PutScalingPolicy = z.object({
  ...Of,
  PolicyName: z.string().min(1).max(256),
  PolicyType: z.literal('TargetTrackingScaling'),
  TargetTrackingScalingPolicyConfiguration: z.looseObject({
    TargetValue: z.number().positive(),
    PredefinedMetricSpecification: z.looseObject({ PredefinedMetricType: z.enum(CONCURRENCY_METRICS) }),
    DisableScaleIn: z.boolean().default(false),
  }),
});
const DescribeScalingPolicies = z.object({
  ServiceNamespace: z.literal(NAMESPACE),
  ResourceId: Of.ResourceId.optional(),
  ScalableDimension: z.literal(DIMENSION).optional(),
  PolicyNames: z.array(z.string()).max(50).optional(),
  ...Page,
});
const DeleteScalingPolicy = z.object({ ...Of, PolicyName: z.string() });

const componentOf = (resourceId: string): string => resourceId.slice(PREFIX.length);
const invalid = (message: string): AwsError => new AwsError('ValidationException', message);
const notFound = (what: string, resourceId: string, more = ''): AwsError =>
  new AwsError(
    'ObjectNotFoundException',
    `No ${what} for service namespace: ${NAMESPACE}, resource ID: ${resourceId}, scalable dimension: ${DIMENSION}${more}`,
  );

const page = <Item>(items: readonly Item[], { NextToken, MaxResults }: { NextToken: number; MaxResults: number }) => {
  const end = NextToken + MaxResults;
  return { items: items.slice(NextToken, end), ...(end < items.length && { NextToken: String(end) }) };
};

/** Application Auto Scaling for the copies of inference components. */
export const scalingOperations = (targets: ScalableTargets, components: ScalableComponents, now: () => number): Operations => {
  const find = (resourceId: string): ScalableTarget => {
    const target = targets.get(componentOf(resourceId).toLowerCase());
    if (!target) throw notFound('scalable target registered', resourceId);
    return target;
  };

  const registerScalableTarget = (body: unknown): object => {
    const { ResourceId, MinCapacity, MaxCapacity, RoleARN, SuspendedState } = readInput(RegisterScalableTarget, body);
    const name = componentOf(ResourceId);
    const before = targets.get(name.toLowerCase());
    if (!components.find(name)) throw invalid(`Inference component does not exist: ${name}`);
    const min = MinCapacity ?? before?.min;
    const max = MaxCapacity ?? before?.max;
    if (min === undefined || max === undefined) throw invalid('MinCapacity and MaxCapacity are required to register a scalable target.');
    if (min > max) throw invalid('Maximum capacity cannot be less than minimum capacity.');
    const target: ScalableTarget = {
      component: name,
      arn: before?.arn ?? `arn:aws:application-autoscaling:${REGION}:${ACCOUNT_ID}:scalable-target/${randomUUID()}`,
      roleArn: RoleARN ?? before?.roleArn ?? serviceRole,
      createdAt: before?.createdAt ?? now(),
      min,
      max,
      suspended: {
        in: SuspendedState?.DynamicScalingInSuspended ?? before?.suspended.in ?? false,
        out: SuspendedState?.DynamicScalingOutSuspended ?? before?.suspended.out ?? false,
        scheduled: SuspendedState?.ScheduledScalingSuspended ?? before?.suspended.scheduled ?? false,
      },
      policies: before?.policies ?? new Map(),
      pending: undefined,
    };
    targets.set(name.toLowerCase(), target);
    return { ScalableTargetARN: target.arn };
  };

  const describeScalableTargets = (body: unknown): object => {
    const input = readInput(DescribeScalableTargets, body);
    const found = [...targets.values()].map(describeTarget).filter(({ ResourceId }) => input.ResourceIds?.includes(ResourceId) ?? true);
    const { items, NextToken } = page(found, input);
    return { ScalableTargets: items, NextToken };
  };

  const deregisterScalableTarget = (body: unknown): object => {
    const { component } = find(readInput(z.object(Of), body).ResourceId);
    targets.delete(component.toLowerCase());
    return {};
  };

  const putScalingPolicy = (body: unknown): object => {
    const input = readInput(PutScalingPolicy, body);
    const target = find(input.ResourceId);
    const { TargetTrackingScalingPolicyConfiguration: configuration, PolicyName: name } = input;
    const before = target.policies.get(name);
    const policy: ScalingPolicy = {
      name,
      arn:
        before?.arn ??
        `arn:aws:autoscaling:${REGION}:${ACCOUNT_ID}:scalingPolicy:${randomUUID()}:resource/${NAMESPACE}/${input.ResourceId}:policyName/${name}`,
      createdAt: before?.createdAt ?? now(),
      configuration,
      targetValue: configuration.TargetValue,
      isScaleInDisabled: configuration.DisableScaleIn,
    };
    target.policies.set(name, policy);
    return { PolicyARN: policy.arn, Alarms: alarmsOf(target, policy) };
  };

  const describeScalingPolicies = (body: unknown): object => {
    const input = readInput(DescribeScalingPolicies, body);
    const found = [...targets.values()]
      .flatMap((target) => [...target.policies.values()].map((policy) => describePolicy(target, policy)))
      .filter(({ ResourceId }) => input.ResourceId === undefined || ResourceId === input.ResourceId)
      .filter(({ PolicyName }) => input.PolicyNames?.includes(PolicyName) ?? true);
    const { items, NextToken } = page(found, input);
    return { ScalingPolicies: items, NextToken };
  };

  const deleteScalingPolicy = (body: unknown): object => {
    const { ResourceId, PolicyName } = readInput(DeleteScalingPolicy, body);
    const isDeleted = targets.get(componentOf(ResourceId).toLowerCase())?.policies.delete(PolicyName);
    if (!isDeleted) throw notFound('scaling policy found', ResourceId, `, policy name: ${PolicyName}`);
    return {};
  };

  return new Map([
    ['AnyScaleFrontendService.RegisterScalableTarget', registerScalableTarget],
    ['AnyScaleFrontendService.DescribeScalableTargets', describeScalableTargets],
    ['AnyScaleFrontendService.DeregisterScalableTarget', deregisterScalableTarget],
    ['AnyScaleFrontendService.PutScalingPolicy', putScalingPolicy],
    ['AnyScaleFrontendService.DescribeScalingPolicies', describeScalingPolicies],
    ['AnyScaleFrontendService.DeleteScalingPolicy', deleteScalingPolicy],
  ]);
};

const serviceRole = `arn:aws:iam::${ACCOUNT_ID}:role/aws-service-role/sagemaker.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint`;

const identityOf = ({ component }: ScalableTarget) => ({
  ServiceNamespace: NAMESPACE,
  ResourceId: `${PREFIX}${component}`,
  ScalableDimension: DIMENSION,
});

const describeTarget = (target: ScalableTarget) => ({
  ...identityOf(target),
  ScalableTargetARN: target.arn,
  RoleARN: target.roleArn,
  MinCapacity: target.min,
  MaxCapacity: target.max,
  SuspendedState: {
    DynamicScalingInSuspended: target.suspended.in,
    DynamicScalingOutSuspended: target.suspended.out,
    ScheduledScalingSuspended: target.suspended.scheduled,
  },
  CreationTime: wireTime(target.createdAt),
});

const alarmsOf = ({ component }: ScalableTarget, { name }: ScalingPolicy) =>
  ['AlarmHigh', 'AlarmLow'].map((kind) => {
    const AlarmName = `TargetTracking-${PREFIX}${component}-${kind}-${name}`;
    return { AlarmName, AlarmARN: `arn:aws:cloudwatch:${REGION}:${ACCOUNT_ID}:alarm:${AlarmName}` };
  });

const describePolicy = (target: ScalableTarget, policy: ScalingPolicy) => ({
  ...identityOf(target),
  PolicyName: policy.name,
  PolicyARN: policy.arn,
  PolicyType: 'TargetTrackingScaling',
  TargetTrackingScalingPolicyConfiguration: policy.configuration,
  Alarms: alarmsOf(target, policy),
  CreationTime: wireTime(policy.createdAt),
});
