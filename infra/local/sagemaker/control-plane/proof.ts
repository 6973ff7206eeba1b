import type { InstanceInterval } from './instance-time.ts';
import { type Component, type Endpoint, readyCopies } from './records.ts';
import type { AccountState } from './state.ts';

/** The resources that exist, and those that existed. */
export interface Existing {
  models: string[];
  endpoint_configs: string[];
  endpoints: { name: string; status: Endpoint['status']; instances: number }[];
  inference_components: { name: string; endpoint: string; status: Component['status']; desired_copies: number; ready_copies: number }[];
  /** Log groups outlive their components, as on AWS. */
  log_groups: string[];
  /** How often each resource was created, by `<kind>/<name>`, such as `endpoint/dep-1`. */
  created: Record<string, number>;
  /** When each instance ran. */
  instances: readonly InstanceInterval[];
  /** Seconds by instance type until now. */
  instance_seconds: Record<string, number>;
}

export const existing = (state: AccountState): Existing => ({
  models: [...state.models.values()].map(({ name }) => name),
  endpoint_configs: [...state.configs.values()].map(({ name }) => name),
  endpoints: [...state.endpoints.values()].map(({ name, status, variants }) => ({
    name,
    status,
    instances: variants.reduce((sum, { instances }) => sum + instances.length, 0),
  })),
  inference_components: [...state.components.values()].map((component) => ({
    name: component.name,
    endpoint: component.endpointName,
    status: component.status,
    desired_copies: component.desiredCopies,
    ready_copies: readyCopies(component).length,
  })),
  log_groups: [...state.logs.groups.keys()],
  created: Object.fromEntries(state.created),
  instances: state.instanceTime.intervals(),
  instance_seconds: Object.fromEntries(
    Object.entries(state.instanceTime.totals(state.timeline.time())).map(([type, ms]) => [type, ms / 1_000]),
  ),
});
