import type { KeyItem } from '../item/key-item.ts';
import { entryOf, type LimiterItem, shardsOf } from '../item/limiter-item.ts';
import type { Entry } from '../item/reservation-entry.ts';
import { ownerIdOf, shardIds } from '../item/shards.ts';
import { userLimiterId } from '../item/user-limiter.ts';
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

// In the order in which a request is admitted.
const ownersOf = (key: KeyItem, { user, project, link }: Entry): string[] => [
  ...(user === undefined ? [] : [userLimiterId(ownerIdOf(key.id), user)]),
  ...(project === undefined ? [] : [project]),
  ...(link === false ? [] : [key.org]),
];

/** Reservations of a request. `isComplete`: all that its key's entry names exist, so the request was admitted. */
export interface FoundReservations {
  reservations: Reservation[];
  isComplete: boolean;
}

/**
 * The reservations of a request in flight: its entry in the key's limiter, then those that exist of the others that
 * this entry names: in the limiter of the end user, and in a shard of the project and of the organization.
 * @param shardsOf the items of an owner's shards; called if the key's entry names the owner
 */
export const reservationsOf = async (
  key: KeyItem,
  requestId: string,
  entry: Entry,
  shardsOf: (ownerId: string) => Promise<readonly LimiterItem[]>,
): Promise<FoundReservations> => {
  const reservations: Reservation[] = [{ limiterId: key.id, item: key, entry }];
  const owners = ownersOf(key, entry);
  for (const owner of owners)
    for (const item of await shardsOf(owner)) {
      const shared = entryOf(item, requestId);
      if (shared?.link !== key.id) continue;
      reservations.push({ limiterId: item.id, item, entry: shared });
      break;
    }
  return { reservations, isComplete: reservations.length === owners.length + 1 };
};

/**
 * Ends a request's reservations, the last one first and the key's last, because the sweep finds the others through the
 * key's. Idempotent.
 */
export const endReservations = async (
  store: LimiterStore,
  reservations: readonly Reservation[],
  ending: Pick<Ending, 'requestId' | 'used' | 'nowMs'>,
): Promise<void> => {
  for (const { limiterId, item, entry } of reservations.toReversed()) await store.end({ ...ending, limiterId, entry, known: item });
};
