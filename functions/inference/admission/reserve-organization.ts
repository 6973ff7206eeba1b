import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import { type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { checkOrganization } from '../../../shared/admission/item/organization.ts';
import { growingShardOf } from '../../../shared/admission/item/shards.ts';
import { REFUSAL_MS } from '../../../shared/admission/keys/authenticate.ts';
import type { Known, Limiters, RefusedBy, RequestedAmounts, Reserved } from './reserve.ts';
import { reserveInShards } from './reserve-in-shards.ts';

// A suspended organization is read again after a while, because it can have been resumed.
const knownOf = async ({ cache, store, now }: Limiters, limiterId: string): Promise<Known> => {
  const seen = cache.get(limiterId);
  if (seen?.item && (seen.item.status === 'active' || now() - seen.seenAtMs < REFUSAL_MS)) return { item: seen.item, isExact: false };
  const item = await store.get(limiterId);
  cache.set(limiterId, item, now());
  return { item, isExact: true };
};

/** Reserves a request in one of the shards of its key's organization. @throws 403, 503 */
export const reserveOrganization = async (
  limiters: Limiters,
  { requestId, tokens, holdNanos }: RequestedAmounts,
  key: KeyItem,
): Promise<Reserved<LimiterItem> | RefusedBy<LimiterItem>> => {
  const { cache, now } = limiters;
  const own = await knownOf(limiters, key.org);
  const shards = shardsOf(own.item);
  const result = await reserveInShards(limiters, {
    ownerId: key.org,
    own,
    shards,
    first: growingShardOf(requestId, shards),
    knownOf: (limiterId) => knownOf(limiters, limiterId),
    isGrowing: true,
    requestId,
    tokens,
    holdNanos,
    linkOf: () => key.id,
    check: checkOrganization,
  });
  // A shard can know of more shards than our image of the organization's own item.
  const seen = cache.get(key.org);
  if ('entry' in result && seen?.item && shardsOf(result.item) > shardsOf(seen.item))
    cache.see(key.org, { ...seen.item, shards: shardsOf(result.item) }, now());
  return result;
};
