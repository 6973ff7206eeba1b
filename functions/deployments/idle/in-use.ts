import { entriesOf, type LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { isForDeployment } from '../../../shared/admission/item/reservation-entry.ts';
import { EPOCH_PARTITIONS, epochOf } from '../../../shared/admission/item/sweep-epoch.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { hasRecentEvent, lastUsed } from './recent-event.ts';

// DynamoDB's limit for one read of several items.
const BATCH_LIMITERS = 100;
// With more limiters, the deployment counts as in use: it must never lose its copies during a request.
const MAX_LIMITERS = 10_000;

interface InUseDependencies {
  limiters: Pick<LimiterStore, 'getMany' | 'listByOrganization' | 'listByEpoch'>;
  usage: Pick<UsageStore, 'listByBucket'>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

// No request is in flight for longer than an epoch, so the limiter that admitted it is listed in the current or last
// epoch.
async function* recentLimiters({ limiters, now }: InUseDependencies): AsyncGenerator<string> {
  for (const epoch of [epochOf(now()), epochOf(now()) - 1])
    for (let partition = 0; partition < EPOCH_PARTITIONS; partition++) yield* limiters.listByEpoch(epoch, partition);
}

// Limiters are never deleted. Of an organization with too many, those that were used lately are read.
async function* limitersOf(deps: InUseDependencies, { organization, published_as }: Deployment): AsyncGenerator<string> {
  const own: string[] = [];
  for await (const id of deps.limiters.listByOrganization(organization)) {
    if (own.length === MAX_LIMITERS) return yield* recentLimiters(deps);
    own.push(id);
  }
  yield* own;
  // Everyone can call a shared model, so all limiters in use count, too.
  if (published_as !== undefined) yield* recentLimiters(deps);
}

/**
 * True if requests for the deployment are in flight or wait for it, or if one was shortly ago. A reservation is marked
 * with its request's deployment, and exists from before the request until after its response. A crashed function's
 * reservation counts until the sweep removes it.
 */
export const isInUse = async (deps: InUseDependencies, deployment: Deployment): Promise<boolean> => {
  let used: LimiterItem[] = [];
  const hasRequest = async (ids: readonly string[]): Promise<boolean> => {
    const items = await deps.limiters.getMany(ids);
    used = lastUsed([...used, ...items]);
    return items.some((item) => entriesOf(item).some(([, entry]) => isForDeployment(entry, deployment.id)));
  };
  let read = 0;
  let batch: string[] = [];
  for await (const id of limitersOf(deps, deployment)) {
    if (++read > MAX_LIMITERS) return true;
    if (batch.push(id) < BATCH_LIMITERS) continue;
    if (await hasRequest(batch)) return true;
    batch = [];
  }
  return (await hasRequest(batch)) || hasRecentEvent(deps, deployment, used);
};
