import { type Admission, type Keys, release } from '../admission/admit.ts';
import type { Used } from '../admission/ending.ts';
import type { UsageEvent } from './event.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * What an admission is charged by the event of its request. One that was admitted a second time, because the function that had it before
 * died after settling it, is charged nothing more.
 */
export const usedBy = (event: UsageEvent, admittedAtMs: number): Used =>
  event.admitted_at === admittedAtMs
    ? { tokens: event.prompt_tokens + event.completion_tokens, costNanos: event.cost_nanos }
    : { tokens: 0, costNanos: 0n };

/**
 * Ends a request: the event first, if there is none yet, then the release of its reservations by what the stored event
 * says, the organization's before the key's. Every step may be repeated, by us, by the SDK or by the sweep: the first event stands.
 */
export const settle = async (deps: { usage: UsageStore; keys: Keys }, admission: Admission, event: UsageEvent): Promise<UsageEvent> => {
  const stored = await deps.usage.putIfAbsent(event, admission.shards);
  await release(deps.keys, admission, usedBy(stored, admission.admittedAtMs));
  return stored;
};
