import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import { entryOf, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardIds } from '../../../shared/admission/item/shards.ts';
import { usedBy } from '../../../shared/admission/plans/reservation-end.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { endReservations, readAllShards, reservationsOf } from '../../../shared/admission/stores/reservation.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';

/**
 * Releases the reservations of a crashed attempt in all shards, so that another attempt can be admitted: with the usage
 * of its event if there is one, else as if it had not been admitted.
 * @param key the item of any shard of the key
 */
export const releaseDeadAttempt = async (
  limiters: LimiterStore,
  key: KeyItem,
  requestId: string,
  event: UsageEvent | undefined,
  nowMs: number,
): Promise<void> => {
  const ownerId = ownerIdOf(key.id);
  for (const item of await limiters.getMany(shardIds(ownerId, shardsOf(key)))) {
    const entry = entryOf(item, requestId);
    if (!entry) continue;
    const used = event ? usedBy(event, entry.admittedAtMs) : 'undone';
    const { reservations } = await reservationsOf(item as KeyItem, requestId, entry, (ownerId) => readAllShards(limiters, ownerId));
    await endReservations(limiters, reservations, { requestId, used, nowMs });
  }
};
