import { readEntry } from '../../../shared/admission/entry.ts';
import type { KeyItem } from '../../../shared/admission/key.ts';
import { entriesOf } from '../../../shared/admission/limiter.ts';
import type { LimiterStore } from '../../../shared/admission/limiter-store.ts';
import { shardId } from '../../../shared/admission/shards.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { usedBy } from '../../../shared/usage/settle.ts';

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
  const shards = Array.from({ length: key.shards ?? 1 }, (_, shard) => limiters.get(shardId(key.id, shard)));
  for (const item of await Promise.all(shards)) {
    const stored = item?.fl[requestId];
    if (!item || !stored) continue;
    const entry = readEntry(stored);
    const used = event ? usedBy(event, entry.admittedAtMs) : 'undone';
    const organization = entry.link ? await limiters.get(key.org) : undefined;
    const held = organization && entriesOf(organization).find(([id, { link }]) => id === requestId && link === item.id)?.[1];
    if (held) await limiters.end({ limiterId: key.org, requestId, entry: held, used, nowMs, known: organization });
    await limiters.end({ limiterId: item.id, requestId, entry, used, nowMs, known: item });
  }
};
