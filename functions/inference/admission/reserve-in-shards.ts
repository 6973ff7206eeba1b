import { type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { shardId, wholeId } from '../../../shared/admission/item/shards.ts';
import { inFlightBeforeSplit, isGrowthBlocked } from './grow-organization.ts';
import { exactRefusal, isCrowded, type Limiters, type RefusedBy, type RequestedAmounts, type Reserved, reserve } from './reserve.ts';
import type { SharedReservation } from './reserve-anywhere.ts';

/**
 * Returns a remembered refusal that still holds, without a call.
 * @param view the item with its current limits; default: the stored ones
 */
export const remembered = (
  { cache, now }: Limiters,
  limiterId: string,
  requested: RequestedAmounts,
  view: (item: LimiterItem) => LimiterItem = (item) => item,
): RefusedBy<LimiterItem> | undefined => {
  const seen = cache.get(limiterId)?.item;
  if (!seen || !cache.refuses(limiterId, now())) return undefined;
  const item = view(seen);
  const refusal = exactRefusal(item, requested, now());
  return refusal && { item, refusal, nowMs: now(), roundTrips: 0 };
};

/**
 * Reserves a request in one of its owner's shards. If the first one rejects it, surveys others, adds shards, or moves
 * money to one. The request is rejected if all shards together have no room.
 * @throws the errors of `check`; 503 if the limiter is too busy
 */
export const reserveInShards = async <Item extends LimiterItem>(
  limiters: Limiters,
  wanted: SharedReservation<Item>,
): Promise<Reserved<Item> | RefusedBy<LimiterItem>> => {
  const { ownerId, shards, first, isGrowing } = wanted;
  const whole = shards > 1 ? remembered(limiters, wholeId(ownerId), wanted) : undefined;
  if (whole) return whole;
  const limiterId = shardId(ownerId, first);
  const known = limiterId === ownerId ? wanted.own : await wanted.knownOf(limiterId);
  const isProtected = isGrowing && !isGrowthBlocked(limiters, ownerId);
  const maxInFlightIn = isProtected ? (item: LimiterItem): number => inFlightBeforeSplit(item, limiters.now()) : undefined;
  const result = remembered(limiters, limiterId, wanted) ?? (await reserve(limiters, { ...wanted, limiterId, maxInFlightIn }, known));
  const roundTrips = result.roundTrips + (known.isExact ? 1 : 0);
  if ('entry' in result) return { ...result, roundTrips };
  // The image of the refusal can know of more shards than we did.
  if (Math.max(shards, shardsOf(result.item)) === 1 && !isCrowded(result)) return { ...result, roundTrips };
  // Most environments never need it.
  const { reserveAnywhere } = await import('./reserve-anywhere.ts');
  return await reserveAnywhere(limiters, wanted, { ...result, roundTrips });
};
