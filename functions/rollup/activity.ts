import type { ActiveModel, LastEvent } from '../../shared/deployments/activity-store.ts';
import { isAwsName } from '../../shared/deployments/names.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';

// Only requests of the on-demand host have an end user; of a shared model, the endpoint tells if it is a deployment's.
const deploymentOf = ({ org_id, model, user_id, is_shared, endpoint }: UsageEvent): ActiveModel | undefined => {
  if (model === undefined) return undefined;
  if (user_id !== undefined && !is_shared) return { pool: org_id, name: model };
  return endpoint !== undefined && isAwsName(endpoint) ? { pool: SERVERLESS_POOL, name: model } : undefined;
};

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
        const model = deploymentOf(event);
        const atMs = event.admitted_at + event.duration_ms;
        const key = model && `${model.pool}/${model.name}`;
        if (model && key && atMs > (latest.get(key)?.atMs ?? 0)) latest.set(key, { ...model, atMs });
        yield event;
      }
    },
    latest: (): LastEvent[] => [...latest.values()],
  };
};
