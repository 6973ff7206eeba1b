import { type Admission, type Keys, release } from '../keys/admit.ts';
import type { UsageEvent } from './event.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * Ends a request: the event first, if there is none yet, then the release of its reservation by what the stored event
 * says. Every step may be repeated, by us, by the SDK or by the sweep: the first event stands.
 */
export const settle = async (deps: { usage: UsageStore; keys: Keys }, admission: Admission, event: UsageEvent): Promise<UsageEvent> => {
  const stored = await deps.usage.putIfAbsent(event);
  await release(deps.keys, admission, stored.prompt_tokens + stored.completion_tokens);
  return stored;
};
