import type { UsageEvent } from '../../../shared/usage/event.ts';

/** The requests of a split's new side in a bucket. */
export interface SideCount {
  splitId: string;
  alias: string;
  organization: string;
  requests: number;
  failed: number;
}

// A deployment that starts is in order.
const STARTING: ReadonlySet<string | undefined> = new Set(['deployment_waking', 'deployment_not_ready', 'model_not_ready']);
const SERVER_ERROR = 500;

// A fallback can have answered after the side's own model failed.
const isFailed = ({ outcome, error_status = 0, error_code, attempts: [first] = [] }: UsageEvent): boolean => {
  if (outcome === 'orphaned') return true;
  return first ? !STARTING.has(first.code) : error_status >= SERVER_ERROR && !STARTING.has(error_code);
};

/** Counts the requests of a bucket on the new sides of splits. */
export const createSideCounts = () => {
  const counts = new Map<string, SideCount>();
  return {
    /** Passes the events through. */
    observe: async function* (events: AsyncIterable<UsageEvent>): AsyncGenerator<UsageEvent> {
      for await (const event of events) {
        const { side, split_id: splitId, alias, org_id: organization, rerate } = event;
        if (side === 'new' && splitId !== undefined && alias !== undefined && !rerate) {
          const count = counts.get(splitId) ?? { splitId, alias, organization, requests: 0, failed: 0 };
          count.requests += 1;
          if (isFailed(event)) count.failed += 1;
          counts.set(splitId, count);
        }
        yield event;
      }
    },
    list: (): SideCount[] => [...counts.values()],
  };
};
