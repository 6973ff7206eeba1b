import { isKeyItem } from '../../shared/admission/item/key-item.ts';
import { entryOf } from '../../shared/admission/item/limiter-item.ts';
import { usedBy } from '../../shared/admission/plans/reservation-end.ts';
import type { LimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import { endReservations, readAllShards, reservationsOf } from '../../shared/admission/stores/reservation.ts';
import type { Database } from '../../shared/database/database.ts';
import { transact } from '../../shared/database/transaction.ts';
import type { QueuedSettlement } from '../../shared/usage/settlement-queue.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';

export interface Settling {
  database: Database;
  limiters: LimiterStore;
  usage: UsageStore;
  now: () => number;
}

/**
 * The result of a queued settlement. `settled_before`: by its function, by another delivery, or by a later attempt of
 * the request.
 */
export type Settled = 'settled' | 'settled_before';

/**
 * Settles a request from its message, as its function would have. Can be repeated, and runs concurrently with the
 * function, the sweep and a request that takes over from this one. The event and the releases are one transaction, so
 * the request is charged if and only if it has the event.
 * @throws Error if it must be delivered again, for instance because another settlement came first
 */
export const settleQueued = async (
  { database, limiters, usage, now }: Settling,
  { event, limiterId, shards }: QueuedSettlement,
): Promise<Settled> => {
  const { request_id: requestId, key_id: keyId, admitted_at: admittedAtMs } = event;
  const item = await limiters.get(limiterId);
  const entry = item && isKeyItem(item) ? entryOf(item, requestId) : undefined;
  // The key's entry is released last. An entry of another attempt is still in use.
  if (!item || !isKeyItem(item) || entry?.admittedAtMs !== admittedAtMs) return 'settled_before';
  const { reservations, isComplete } = await reservationsOf(item, requestId, entry, (ownerId) => readAllShards(limiters, ownerId));
  const ending = { requestId, nowMs: now() };
  const stored = await usage.get(keyId, requestId, shards);
  if (stored) {
    await endReservations(limiters, reservations, { ...ending, used: usedBy(stored, admittedAtMs) });
    return 'settled_before';
  }
  if (!isComplete) throw new Error(`Request ${requestId} is being rolled back by another worker.`);
  const used = usedBy(event, admittedAtMs);
  const ends = reservations.map(({ limiterId: id, item: known, entry: own }) =>
    limiters.toEnd({ ...ending, limiterId: id, entry: own, known, used }),
  );
  await transact(database, [usage.toPut(event, shards), ...ends]);
  return 'settled';
};
