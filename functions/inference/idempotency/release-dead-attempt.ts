import type { KeyItem } from '../../../shared/admission/key-item.ts';
import { entryOf } from '../../../shared/admission/limiter-item.ts';
import type { LimiterStore } from '../../../shared/admission/limiter-store.ts';
import { endReservations, reservationsOf } from '../../../shared/admission/reservation.ts';
import { usedBy } from '../../../shared/admission/reservation-end.ts';
import { shardIds } from '../../../shared/admission/shards.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';

/**
 * Releases what a crashed attempt of a request still has in flight, in any shard, so that another attempt can be admitted: with the usage of
 * its event if there is one, else as if it had never been admitted.
 * @param key the item of any shard of the key
 */
export const releaseDeadAttempt = async (
  limiters: LimiterStore,
  key: KeyItem,
  requestId: string,
  event: UsageEvent | undefined,
  nowMs: number,
): Promise<void> => {
  const items = await Promise.all(shardIds(key.id, key.shards ?? 1).map((id) => limiters.get(id)));
  for (const item of items) {
    const entry = item && entryOf(item, requestId);
    if (!item || !entry) continue;
    const used = event ? usedBy(event, entry.admittedAtMs) : 'undone';
    await endReservations(limiters, await reservationsOf(limiters, item as KeyItem, requestId, entry), { requestId, used, nowMs });
  }
};
