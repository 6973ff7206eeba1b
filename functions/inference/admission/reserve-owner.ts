import { type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { growingShardOf } from '../../../shared/admission/item/shards.ts';
import { REFUSAL_MS } from '../../../shared/admission/keys/authenticate.ts';
import type { Known, Limiters, RefusedBy, RequestedAmounts, RequestedReservation, Reserved } from './reserve.ts';
import { reserveInShards } from './reserve-in-shards.ts';

// A suspended organization is read again after a while, because it can have been resumed.
const knownOf = async ({ cache, store, now }: Limiters, limiterId: string): Promise<Known> => {
  const seen = cache.get(limiterId);
  if (seen?.item && (seen.item.status === 'active' || now() - seen.seenAtMs < REFUSAL_MS)) return { item: seen.item, isExact: false };
  const item = await store.get(limiterId);
  cache.set(limiterId, item, now());
  return { item, isExact: true };
};

// An organization or a project.
interface SharedOwner {
  ownerId: string;
  /** The id of the limiter in which the request's key has reserved it. */
  keyLimiterId: string;
  check: RequestedReservation<LimiterItem>['check'];
}

/** Reserves a request in one of the shards of its key's organization or project. @throws the errors of `check`; 503 */
export const reserveOwner = async (
  limiters: Limiters,
  { requestId, tokens, holdNanos }: RequestedAmounts,
  { ownerId, keyLimiterId, check }: SharedOwner,
): Promise<Reserved<LimiterItem> | RefusedBy<LimiterItem>> => {
  const { cache, now } = limiters;
  const own = await knownOf(limiters, ownerId);
  const shards = shardsOf(own.item);
  const result = await reserveInShards(limiters, {
    ownerId,
    own,
    shards,
    first: growingShardOf(requestId, shards),
    knownOf: (limiterId) => knownOf(limiters, limiterId),
    isGrowing: true,
    requestId,
    tokens,
    holdNanos,
    linkOf: () => keyLimiterId,
    check,
  });
  // A shard can know of more shards than our image of the owner's own item.
  const seen = cache.get(ownerId);
  if ('entry' in result && seen?.item && shardsOf(result.item) > shardsOf(seen.item))
    cache.see(ownerId, { ...seen.item, shards: shardsOf(result.item) }, now());
  return result;
};
