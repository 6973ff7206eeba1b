import type { LastEvent } from '../../shared/deployments/activity-store.ts';
import { activeModelOf } from '../../shared/usage/active-model.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';

/**
 * Collects when the last request of each deployment ended, from the events of a batch, so that each is written at most
 * once.
 */
export const createActivityOfBatch = () => {
  const latest = new Map<string, LastEvent>();
  return {
    /** Passes the events through. */
    observe: async function* (events: AsyncIterable<UsageEvent>): AsyncGenerator<UsageEvent> {
      for await (const event of events) {
        const model = activeModelOf(event);
        const atMs = event.admitted_at + event.duration_ms;
        const key = model && `${model.pool}/${model.name}`;
        if (model && key && atMs > (latest.get(key)?.atMs ?? 0)) latest.set(key, { ...model, atMs });
        yield event;
      }
    },
    latest: (): LastEvent[] => [...latest.values()],
  };
};
