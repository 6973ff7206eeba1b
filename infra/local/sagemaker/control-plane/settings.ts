import * as z from 'zod';

const Ms = z.int().min(0).max(86_400_000);

// The duration of each transition, in milliseconds.
const Times = z.strictObject({
  /** Until a new instance can hold copies; a new endpoint is in service when its first instances are. */
  instance_ms: Ms.default(2_000),
  /** UpdateEndpoint, until the new configuration holds. */
  update_ms: Ms.default(1_000),
  /** A copy's image and artifacts; an adapter's artifacts. */
  download_ms: Ms.default(1_000),
  /** From the start of a copy's container until it is healthy. */
  load_ms: Ms.default(1_000),
  /** Deletion of an endpoint or component, and removal of a copy. */
  delete_ms: Ms.default(1_000),
  /** From the last copy of an instance until a managed instance is released. */
  release_ms: Ms.default(3_000),
  /** Until SageMaker gives up one instance type for want of capacity. On AWS half an hour. */
  insufficient_capacity_ms: Ms.default(2_000),
  /** Until a container that never becomes healthy fails. */
  health_check_ms: Ms.default(5_000),
  /** Between two starts of a container that crashes. */
  crash_ms: Ms.default(1_000),
  /** Until a copy that crashes again and again, or is stuck, fails. On AWS about an hour. */
  give_up_ms: Ms.default(60_000),
  /**
   * How long the concurrency must be above the target before copies are added, and below it before they are removed.
   */
  scale_out_ms: Ms.default(1_000),
  scale_in_ms: Ms.default(5_000),
  /** Until Application Auto Scaling brings a component back between the capacities of its target. */
  restore_capacity_ms: Ms.default(1_000),
});

/** Failures of a call. `lost_reply` executes the call; the others don't. */
export const CALL_FAULTS = ['throttling', 'service_unavailable', 'internal_failure', 'quota', 'busy', 'lost_reply'] as const;
/**
 * Failures of what a call has begun. `insufficient_capacity` and `stuck` apply to instances and to copies that are
 * about to start.
 */
export const PHASE_FAULTS = ['insufficient_capacity', 'image_pull', 'crash_loop', 'health_check_timeout', 'stuck'] as const;

export type CallFaultKind = (typeof CALL_FAULTS)[number];
export type PhaseFaultKind = (typeof PHASE_FAULTS)[number];

const DeploymentFault = z.strictObject({
  kind: z.enum([...CALL_FAULTS, ...PHASE_FAULTS]),
  /** For failures of calls: the operation, such as CreateEndpoint, with `*` for any characters. */
  operation: z.string().min(1).max(100).default('*'),
  /**
   * Name of the resource, with `*` for any characters: of the call's resource, of the endpoint for instances, else of
   * the component.
   */
  name: z.string().min(1).max(200).default('*'),
  /** For insufficient_capacity: the only instance type without capacity. By default none has. */
  instance_type: z.string().optional(),
  /** How often it happens; by default always, until the settings change. */
  times: z.int().min(1).max(1_000_000).optional(),
});
export type DeploymentFault = z.infer<typeof DeploymentFault>;

/** Times, failures and quotas that tests can set. */
export const DeploymentSettings = z.strictObject({
  times: Times.default(Times.parse({})),
  faults: z.array(DeploymentFault).max(100).default([]),
  /** Quotas by instance type; the default is 4 instances. */
  quotas: z.record(z.string(), z.int().min(0).max(10_000)).default({}),
  /** True if an endpoint may scale to no instance. Some regions refuse it. */
  allows_zero_instances: z.boolean().default(true),
});
export type DeploymentSettings = z.infer<typeof DeploymentSettings>;
export type DeploymentSettingsInput = z.input<typeof DeploymentSettings>;
