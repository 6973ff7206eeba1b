import {
  type ApplicationAutoScalingClient,
  DeregisterScalableTargetCommand,
  DescribeScalableTargetsCommand,
  DescribeScalingPoliciesCommand,
  PutScalingPolicyCommand,
  RegisterScalableTargetCommand,
} from '@aws-sdk/client-application-auto-scaling';

/** The copies that Application Auto Scaling may set for a component. */
export interface ScalingTarget {
  min: number;
  max: number;
  /** If true, alarms change nothing. */
  isSuspended: boolean;
}

export interface DescribedScaling extends ScalingTarget {
  /** Requests per copy at which copies are added. Absent if there is no policy. */
  requestsPerCopy?: number;
}

const POLICY = 'requests-per-copy';

const targetIdOf = (component: string) =>
  ({
    ServiceNamespace: 'sagemaker',
    ResourceId: `inference-component/${component}`,
    ScalableDimension: 'sagemaker:inference-component:DesiredCopyCount',
  }) as const;

/** Application Auto Scaling of inference components, which have one target and one policy each. */
export const createScaling = (client: ApplicationAutoScalingClient) => ({
  /** Undefined if the component is not registered. */
  describe: async (component: string): Promise<DescribedScaling | undefined> => {
    const { ResourceId, ...place } = targetIdOf(component);
    const { ScalableTargets } = await client.send(new DescribeScalableTargetsCommand({ ...place, ResourceIds: [ResourceId] }));
    const [target] = ScalableTargets ?? [];
    if (!target) return undefined;
    const { ScalingPolicies } = await client.send(new DescribeScalingPoliciesCommand({ ...place, ResourceId, PolicyNames: [POLICY] }));
    const requestsPerCopy = ScalingPolicies?.[0]?.TargetTrackingScalingPolicyConfiguration?.TargetValue;
    const { DynamicScalingInSuspended, DynamicScalingOutSuspended, ScheduledScalingSuspended } = target.SuspendedState ?? {};
    return {
      min: target.MinCapacity ?? 0,
      max: target.MaxCapacity ?? 0,
      isSuspended: Boolean(DynamicScalingInSuspended && DynamicScalingOutSuspended && ScheduledScalingSuspended),
      ...(requestsPerCopy !== undefined && { requestsPerCopy }),
    };
  },

  /** Registers a component, or changes its registration. */
  register: async (component: string, { min, max, isSuspended }: ScalingTarget): Promise<void> => {
    const SuspendedState = {
      DynamicScalingInSuspended: isSuspended,
      DynamicScalingOutSuspended: isSuspended,
      ScheduledScalingSuspended: isSuspended,
    };
    await client.send(new RegisterScalableTargetCommand({ ...targetIdOf(component), MinCapacity: min, MaxCapacity: max, SuspendedState }));
  },

  /** Creates or changes the policy of a registered component. */
  putPolicy: async (component: string, requestsPerCopy: number): Promise<void> => {
    await client.send(
      new PutScalingPolicyCommand({
        ...targetIdOf(component),
        PolicyName: POLICY,
        PolicyType: 'TargetTrackingScaling',
        TargetTrackingScalingPolicyConfiguration: {
          TargetValue: requestsPerCopy,
          PredefinedMetricSpecification: {
            PredefinedMetricType: 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution',
          },
        },
      }),
    );
  },

  /** Removes the registration with its policy and alarms. */
  deregister: async (component: string): Promise<void> =>
    void (await client.send(new DeregisterScalableTargetCommand(targetIdOf(component)))),
});

export type Scaling = ReturnType<typeof createScaling>;
