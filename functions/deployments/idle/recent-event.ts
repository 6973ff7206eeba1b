import type { LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import { HOUR_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { activeModelOf } from '../../../shared/usage/active-model.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { BUCKET_MS, type UsageStore } from '../../../shared/usage/usage-store.ts';
import { activeModelsOf } from './last-event.ts';

// The last keys to have been used, and how much of their usage is read.
const MAX_KEYS = 5;
const MAX_BACK_MS = HOUR_MS;
const MAX_EVENTS = 1_000;

/** The limiters of the keys that were used last, of these. */
export const lastUsed = (items: readonly LimiterItem[]): LimiterItem[] =>
  items
    .filter(({ id, last_used }) => last_used !== undefined && id.startsWith(prefixes.key))
    .toSorted((one, other) => (other.last_used ?? 0) - (one.last_used ?? 0))
    .slice(0, MAX_KEYS);

async function* eventsSince(
  usage: Pick<UsageStore, 'listByBucket'>,
  keys: readonly LimiterItem[],
  sinceMs: number,
): AsyncGenerator<UsageEvent> {
  for (const { id, last_used = 0 } of keys) {
    if (last_used < sinceMs) continue;
    for (let bucketMs = Math.floor(sinceMs / BUCKET_MS) * BUCKET_MS; bucketMs <= last_used; bucketMs += BUCKET_MS)
      yield* usage.listByBucket(id, bucketMs);
  }
}

/**
 * True if a request to the deployment has ended within its idle time, according to the usage events themselves: the
 * rollup, from which the last request is known, can be late.
 * @param keys limiters of the keys that were used last
 */
export const hasRecentEvent = async (
  { usage, now }: { usage: Pick<UsageStore, 'listByBucket'>; now: () => number },
  deployment: Deployment,
  keys: readonly LimiterItem[],
): Promise<boolean> => {
  const idleMs = (deployment.scale_to_zero_after_seconds ?? 0) * SECOND_MS;
  const sinceMs = now() - Math.min(idleMs, MAX_BACK_MS);
  const models = activeModelsOf(deployment);
  let read = 0;
  for await (const event of eventsSince(usage, keys, sinceMs)) {
    const model = activeModelOf(event);
    const isOwn = models.some(({ pool, name }) => pool === model?.pool && name === model.name);
    if (isOwn && event.admitted_at + event.duration_ms >= sinceMs) return true;
    if (++read === MAX_EVENTS) return false;
  }
  return false;
};
