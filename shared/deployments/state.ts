import * as z from 'zod';

/**
 * The states of a deployment.
 *
 *   pending → creating → in_service ⇄ updating
 *                          │     ▲
 *               draining ◄─┘     └─ waking
 *                    │                  ▲
 *                    └─► scaled_to_zero ┘
 *
 * `draining`: no copies are left, but instances still run and are charged. From every state: `stopping → stopped`,
 * `deleting → deleted` and `failed`.
 */
export const DeploymentState = z.enum([
  'pending',
  'creating',
  'in_service',
  'updating',
  'draining',
  'scaled_to_zero',
  'waking',
  'stopping',
  'stopped',
  'deleting',
  'deleted',
  'failed',
]);
export type DeploymentState = z.infer<typeof DeploymentState>;

// A deployment changes by itself in these states, so it is reconciled more often.
const TRANSITIONAL: ReadonlySet<DeploymentState> = new Set([
  'pending',
  'creating',
  'updating',
  'draining',
  'waking',
  'stopping',
  'deleting',
]);

/** A deployment in this state is on its way to another one. */
export const isTransitional = (state: DeploymentState): boolean => TRANSITIONAL.has(state);

/** The states in which a request for the deployment wakes it. */
export const ASLEEP: readonly DeploymentState[] = ['scaled_to_zero', 'draining'];

/** The states in which requests for the deployment are sent to its targets. */
export const SERVING: readonly DeploymentState[] = ['in_service', 'updating'];
