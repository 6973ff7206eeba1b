import { ConditionFailed, type Database, TransactionCanceled } from '../../database/database.ts';
import { isWritten } from '../../database/is-written.ts';
import { DatabaseUnavailable } from '../../database/outage.ts';
import { queryItems } from '../../database/query.ts';
import { transact, type Write } from '../../database/transaction.ts';
import { prefixes } from '../../ids/id.ts';
import type { LimiterItem } from '../item/limiter-item.ts';
import { epochPartition } from '../item/sweep-epoch.ts';
import { ChangedMeanwhile } from '../plans/configuration-write.ts';
import type { Move } from '../plans/move-money.ts';
import { type Ending, toEnd } from '../plans/reservation-end.ts';
import { type ReservationPlan, toReserve } from '../plans/reservation-plan.ts';
import type { Split } from '../plans/split-shard.ts';
import { createLimiterReader, SWEEP_MARK } from './limiter-reader.ts';
import { createUserLimiterStore } from './user-limiter-store.ts';

export const EPOCH_INDEX = 'epoch';
export const ORGANIZATION_INDEX = 'organization';

const MAX_LISTED_PAGES = 100;

type PlannedUpdate = Omit<Parameters<Database['update']>[0], 'TableName' | 'Key'>;

export type AdmitResult = { admitted: LimiterItem } | { refused: LimiterItem | undefined };

class ReservationEnded extends Error {}

/**
 * The limiter items in the `keys` table. Only this folder knows its attributes, conditions and indexes.
 * @param once a client that never retries, for admissions: `reserve` repeats them itself, with another time each
 */
export const createLimiterStore = (database: Database, table: string, once: Database = database) => {
  const apply = async (id: string, update: PlannedUpdate): Promise<void> => {
    await isWritten(database.update({ TableName: table, Key: { id }, ...update }));
  };

  return {
    ...createLimiterReader(database, table),
    ...createUserLimiterStore(database, table),

    /**
     * Splits shards of an organization in one transaction; false if one of them changed meanwhile, and then nothing
     * is done.
     */
    split: async (organization: string, splits: readonly Split[], before: number): Promise<boolean> => {
      const { toSplit } = await import('../plans/split-shard.ts');
      try {
        await database.transactWrite({ TransactItems: toSplit(table, organization, splits, before) });
        return true;
      } catch (error) {
        if (!(error instanceof TransactionCanceled)) throw error;
        return false;
      }
    },

    /**
     * Moves money between shards in one transaction; false if one of them changed meanwhile, and then nothing is
     * done.
     */
    move: async (move: Move): Promise<boolean> => {
      const { toMove } = await import('../plans/move-money.ts');
      const writes = toMove(table, move).map((item) => ({ item, refused: () => new ChangedMeanwhile() }));
      try {
        await transact(database, writes);
        return true;
      } catch (error) {
        if (error instanceof ChangedMeanwhile || error instanceof DatabaseUnavailable) return false;
        throw error;
      }
    },

    /**
     * ADMIT: writes the reservation if every clause holds, otherwise returns the current item (undefined: it does not
     * exist).
     */
    admit: async (plan: ReservationPlan): Promise<AdmitResult> => {
      try {
        const { Attributes } = await once.update({
          TableName: table,
          Key: { id: plan.limiterId },
          ...toReserve(plan),
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        });
        return { admitted: Attributes as unknown as LimiterItem };
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        return { refused: error.item as LimiterItem | undefined };
      }
    },

    /** RELEASE or UNDO: removes the entry and corrects the counters. Succeeds if this was already done. */
    end: (ending: Ending): Promise<void> => apply(ending.limiterId, toEnd(ending)),

    /** Makes a planned update of an item. Does nothing if its condition doesn't hold any more. */
    apply,

    /** RELEASE as one write of a transaction; fails with ReservationEnded if the entry is gone. */
    toEnd: (ending: Ending): Write => ({
      item: { Update: { TableName: table, Key: { id: ending.limiterId }, ...toEnd(ending) } },
      refused: () => new ReservationEnded(),
    }),

    /**
     * The ids of an organization's own limiter and those of its keys and their shards. One that was just created can
     * be missing.
     */
    listByOrganization: async function* (organization: string): AsyncGenerator<string> {
      const query = {
        TableName: table,
        IndexName: ORGANIZATION_INDEX,
        KeyConditionExpression: 'org = :org',
        ExpressionAttributeValues: { ':org': organization },
      };
      for await (const { id } of queryItems(database, query, MAX_LISTED_PAGES))
        if (!String(id).startsWith(prefixes.project)) yield id as string;
    },

    /**
     * Marks a key's limiter: its organization has limits, which apply from the next write on. Succeeds if this was
     * already done.
     */
    markOrganizationLimited: (id: string): Promise<void> =>
      apply(id, {
        UpdateExpression: 'SET lim_o = :true ADD cfg :one',
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(lim_o)',
        ExpressionAttributeValues: { ':true': true, ':one': 1 },
      }),

    /** The ids of limiters whose last admission is in this partition of an epoch. */
    listByEpoch: async function* (epoch: number, partition: number): AsyncGenerator<string> {
      const query = {
        TableName: table,
        IndexName: EPOCH_INDEX,
        KeyConditionExpression: 'ep = :ep',
        ExpressionAttributeValues: { ':ep': epochPartition(epoch, partition) },
      };
      for await (const { id } of queryItems(database, query, MAX_LISTED_PAGES)) yield id as string;
    },

    markSwept: async (epoch: number): Promise<void> => {
      await database.put({ TableName: table, Item: { id: SWEEP_MARK, epoch } });
    },
  };
};

export type LimiterStore = ReturnType<typeof createLimiterStore>;
