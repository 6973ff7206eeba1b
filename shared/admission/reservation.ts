import type { KeyItem } from './key-item.ts';
import { entryOf, type LimiterItem } from './limiter-item.ts';
import type { LimiterStore } from './limiter-store.ts';
import type { Ending } from './reservation-end.ts';
import type { Entry } from './reservation-entry.ts';

/** A request's reservation in one limiter, with an image of the limiter. */
export interface Reservation {
  limiterId: string;
  item: LimiterItem;
  entry: Entry;
}

/** The reservations of a request in flight: its entry in the key's limiter, then the matching entry in the organization's limiter, if it exists. */
export const reservationsOf = async (store: LimiterStore, key: KeyItem, requestId: string, entry: Entry): Promise<Reservation[]> => {
  const own = { limiterId: key.id, item: key, entry };
  const organization = entry.link ? await store.get(key.org) : undefined;
  const shared = organization && entryOf(organization, requestId);
  return shared?.link === key.id ? [own, { limiterId: key.org, item: organization as LimiterItem, entry: shared }] : [own];
};

/** Ends a request's reservations, the organization's before the key's, because the sweep finds the organization's through the key's. Idempotent. */
export const endReservations = async (
  store: LimiterStore,
  reservations: readonly Reservation[],
  ending: Pick<Ending, 'requestId' | 'used' | 'nowMs'>,
): Promise<void> => {
  for (const { limiterId, item, entry } of reservations.toReversed()) await store.end({ ...ending, limiterId, entry, known: item });
};
