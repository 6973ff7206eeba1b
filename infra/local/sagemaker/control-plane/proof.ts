import type { InstanceInterval } from './instance-time.ts';
import { type Component, type Endpoint, readyCopies } from './records.ts';
import type { World } from './world.ts';

/** What exists, and what existed. */
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

export const existing = (world: World): Existing => ({
  models: [...world.models.values()].map(({ name }) => name),
  endpoint_configs: [...world.configs.values()].map(({ name }) => name),
  endpoints: [...world.endpoints.values()].map(({ name, status, variants }) => ({
    name,
    status,
    instances: variants.reduce((sum, { instances }) => sum + instances.length, 0),
  })),
  inference_components: [...world.components.values()].map((component) => ({
    name: component.name,
    endpoint: component.endpointName,
    status: component.status,
    desired_copies: component.desiredCopies,
    ready_copies: readyCopies(component).length,
  })),
  log_groups: [...world.logs.groups.keys()],
  created: Object.fromEntries(world.created),
  instances: world.instanceTime.intervals(),
  instance_seconds: Object.fromEntries(
    Object.entries(world.instanceTime.totals(world.timeline.time())).map(([type, ms]) => [type, ms / 1_000]),
  ),
});
