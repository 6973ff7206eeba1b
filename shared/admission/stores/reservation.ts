import type { KeyItem } from '../item/key-item.ts';
import { entryOf, type LimiterItem, shardsOf } from '../item/limiter-item.ts';
import type { Entry } from '../item/reservation-entry.ts';
import { shardIds } from '../item/shards.ts';
import type { Ending } from '../plans/reservation-end.ts';
import type { LimiterReader } from './limiter-reader.ts';
import type { LimiterStore } from './limiter-store.ts';

/** A request's reservation in one limiter, with an image of the limiter. */
export interface Reservation {
  limiterId: string;
  item: LimiterItem;
  entry: Entry;
}

/** The items of all shards of a key or organization, its own first. */
export const readAllShards = async (store: Pick<LimiterReader, 'get' | 'getMany'>, ownerId: string): Promise<LimiterItem[]> => {
  const own = await store.get(ownerId);
  if (!own) return [];
  return [own, ...(await store.getMany(shardIds(ownerId, shardsOf(own)).slice(1)))];
};

/**
 * The reservations of a request in flight: its entry in the key's limiter, then the matching entry in a shard of the
 * organization, if it exists.
 * @param shards the organization's shards; called if the key's entry says that there is one
 */
export const reservationsOf = async (
  key: KeyItem,
  requestId: string,
  entry: Entry,
  shards: () => Promise<readonly LimiterItem[]>,
): Promise<Reservation[]> => {
  const own = { limiterId: key.id, item: key, entry };
  for (const item of entry.link ? await shards() : []) {
    const shared = entryOf(item, requestId);
    if (shared?.link === key.id) return [own, { limiterId: item.id, item, entry: shared }];
  }
  return [own];
};

/**
 * Ends a request's reservations, the organization's before the key's, because the sweep finds the organization's
 * through the key's. Idempotent.
 */
export const endReservations = async (
  store: LimiterStore,
  reservations: readonly Reservation[],
  ending: Pick<Ending, 'requestId' | 'used' | 'nowMs'>,
): Promise<void> => {
  for (const { limiterId, item, entry } of reservations.toReversed()) await store.end({ ...ending, limiterId, entry, known: item });
};
