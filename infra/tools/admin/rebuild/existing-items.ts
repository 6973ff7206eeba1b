import { type LimiterItem, limitConfiguration, newLimiterItem, wholeLimitsOf } from '../../../../shared/admission/item/limiter-item.ts';
import type { Limits } from '../../../../shared/admission/item/limits.ts';
import { shardId, shardIds } from '../../../../shared/admission/item/shards.ts';
import { ChangedMeanwhile } from '../../../../shared/admission/plans/configuration-write.ts';
import { mergeShards } from '../../../../shared/admission/plans/merge-shards.ts';
import { shareLimits } from '../../../../shared/admission/plans/share-limits.ts';
import type { LimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import { transact, type Write } from '../../../../shared/database/transaction.ts';

// Requests of a busy limiter can make a change of its settings fail this often.
const MAX_CHANGE_ATTEMPTS = 8;

export interface ChangeDependencies {
  database: Database;
  limiters: LimiterConfigurationStore;
  /** ms since the epoch. */
  now: () => number;
}

interface OwnerSettings {
  status: LimiterItem['status'];
  limits: Limits;
  organization: string;
}

/** The items of a key, a project or an organization, of which some can be missing, and how many there should be. */
export interface ExistingItems<Item extends LimiterItem> {
  items: Item[];
  count: number;
}

/** One image of all items. */
export const wholeOf = <Item extends LimiterItem>(items: readonly Item[]): Item => mergeShards(items as [Item, ...Item[]]);

/** The items that are missing. */
export const missingIds = (ownerId: string, { items, count }: ExistingItems<LimiterItem>): { id: string; shard: number }[] => {
  const known = new Set(items.map(({ id }) => id));
  return shardIds(ownerId, count).flatMap((id, shard) => (known.has(id) ? [] : [{ id, shard }]));
};

/** A new item of a project or an organization, with its part of the limits. */
export const newOwnerItem = (id: string, { status, limits, organization }: OwnerSettings, count: number, shard: number): LimiterItem => {
  const { set } = limitConfiguration(shareLimits(limits, count)[shard] as Limits);
  const settings = { ...set, status, ...(count > 1 && { shards: count, ...wholeLimitsOf(limits) }) };
  return newLimiterItem(shardId(id, shard), organization, { set: settings });
};

/**
 * Changes the settings of a limiter. The writes depend on the items' counters, so they are planned again if these
 * change meanwhile.
 * @throws 503 if they change during each attempt
 */
export const changeLimiter = async (
  deps: ChangeDependencies,
  ownerId: string,
  writes: (nowMs: number) => Promise<readonly Write[]>,
): Promise<void> => {
  for (let attempt = 0; attempt < MAX_CHANGE_ATTEMPTS; attempt++) {
    const nowMs = deps.now();
    try {
      await transact(deps.database, await writes(nowMs));
    } catch (error) {
      if (error instanceof ChangedMeanwhile) continue;
      throw error;
    }
    return deps.limiters.spread(ownerId, nowMs);
  }
  throw new DatabaseUnavailable(new Error(`The limiter of ${ownerId} changed during each of ${MAX_CHANGE_ATTEMPTS} attempts.`));
};
