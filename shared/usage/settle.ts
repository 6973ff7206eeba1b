import { type Admission, type Keys, release } from '../admission/admit.ts';
import { type UsageEvent, usedBy } from './event.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * Settles a request: writes its event, if there is none yet, then releases its reservations by what the stored event says. Every step may be repeated,
 * by us, by the SDK or by the sweep: the first event stands.
 */
export const settle = async (deps: { usage: UsageStore; keys: Keys }, admission: Admission, event: UsageEvent): Promise<UsageEvent> => {
  const stored = await deps.usage.putIfAbsent(event, admission.shards);
  await release(deps.keys, admission, usedBy(stored, admission.admittedAtMs));
  return stored;
};
