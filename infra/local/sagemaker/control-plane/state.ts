import type { Timeline } from '../../clock/timeline.ts';
import type { ServiceEvent } from '../../event-bus.ts';
import type { LogGroups } from '../../logs/log-groups.ts';
import type { EndpointQuotas } from '../../quotas/endpoint-quotas.ts';
import type { Faults } from './faults.ts';
import type { InstanceTime } from './instance-time.ts';
import type { Component, Endpoint, EndpointConfig, Model, Resource, Tags } from './records.ts';
import { arnOf, type Kind, keyOf } from './requests/names.ts';
import type { DeploymentSettings } from './settings.ts';

/** All that exists in the emulated account, and what its rules need. Maps are by lower-case name. */
export interface AccountState {
  timeline: Timeline;
  settings(): DeploymentSettings;
  faults: Faults;
  logs: LogGroups;
  quotas: EndpointQuotas;
  instanceTime: InstanceTime;
  models: Map<string, Model>;
  configs: Map<string, EndpointConfig>;
  endpoints: Map<string, Endpoint>;
  components: Map<string, Component>;
  /** How often each resource was created, by `<kind>/<name>`. */
  created: Map<string, number>;
  /** The next sequence number. */
  sequence: number;
  /** Sends an event as EventBridge does. */
  emit(event: ServiceEvent): void;
}

/** Builds what all new resources have in common, and counts the creation. */
export const newResource = (state: AccountState, kind: Kind, name: string, tags: readonly { Key: string; Value: string }[]): Resource => {
  const created = `${kind}/${name}`;
  state.created.set(created, (state.created.get(created) ?? 0) + 1);
  const time = state.timeline.time();
  return { name, arn: arnOf(kind, name), tags: tagMap(tags), createdAt: time, modifiedAt: time, sequence: nextSequence(state) };
};

const tagMap = (tags: readonly { Key: string; Value: string }[]): Tags => new Map(tags.map(({ Key, Value }) => [Key, Value]));

/** A number that is used once. */
export const nextSequence = (state: AccountState): number => {
  state.sequence += 1;
  return state.sequence;
};

export const findEndpoint = (state: AccountState, name: string): Endpoint | undefined => state.endpoints.get(keyOf(name));

/** The components of an endpoint. */
export const componentsOf = (state: AccountState, endpoint: Endpoint): Component[] =>
  [...state.components.values()].filter(({ endpointName }) => keyOf(endpointName) === keyOf(endpoint.name));
