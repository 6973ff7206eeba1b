/** A metric that a target tracking policy keeps at its value: invocations in progress per copy. */
export interface ScalingPolicy {
  name: string;
  arn: string;
  createdAt: number;
  /** The configuration that DescribeScalingPolicies returns. */
  configuration: Readonly<Record<string, unknown>>;
  targetValue: number;
  isScaleInDisabled: boolean;
}

/** A registered scalable target: the copies of an inference component. */
export interface ScalableTarget {
  component: string;
  arn: string;
  roleArn: string;
  createdAt: number;
  min: number;
  max: number;
  suspended: { in: boolean; out: boolean; scheduled: boolean };
  policies: Map<string, ScalingPolicy>;
  /** The change that happens if its condition holds long enough. */
  pending: { kind: ChangeKind } | undefined;
}

export type ChangeKind = 'restore' | 'out' | 'in';
/** By lower-case component name. */
export type ScalableTargets = Map<string, ScalableTarget>;
