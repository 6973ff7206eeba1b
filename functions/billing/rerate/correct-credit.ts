import { availableNanosOf, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import { planCollection, toCollect } from '../../../shared/admission/plans/credit-grant.ts';
import type { LimiterReader } from '../../../shared/admission/stores/limiter-reader.ts';
import type { Database } from '../../../shared/database/database.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';

// Requests of a busy organization can make a collection fail this often.
const MAX_COLLECT_ATTEMPTS = 8;

export interface CreditCorrectionDependencies {
  database: Database;
  limiters: Pick<LimiterReader, 'get' | 'getMany'>;
  keysTable: string;
}

/**
 * Moves credit from an organization's other shards to its own item, so that an amount can be deducted from it. If the
 * shards have too little, or the attempts are used up, the deduction makes the own item negative.
 */
export const collectCredit = async (
  { database, limiters, keysTable }: CreditCorrectionDependencies,
  organization: string,
  nanos: bigint,
): Promise<void> => {
  for (let attempt = 0; attempt < MAX_COLLECT_ATTEMPTS; attempt++) {
    const own = await limiters.get(organization);
    if (!own) return;
    const others = await limiters.getMany(shardIds(organization, shardsOf(own)).slice(1));
    const donations = planCollection(others, nanos - availableNanosOf(own));
    if (donations.length === 0) return;
    const writes = toCollect(keysTable, organization, donations).map((item) => ({ item, refused: () => new ChangedMeanwhile() }));
    try {
      await transact(database, writes);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
    }
  }
};

/** A write that deducts an amount from an organization's credit, even below zero; a negative amount is returned. */
export const toTakeCredit = (keysTable: string, organization: string, nanos: bigint): Write => ({
  item: {
    Update: {
      TableName: keysTable,
      Key: { id: organization },
      UpdateExpression: 'SET avail = if_not_exists(avail, :zero) - :nanos',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeValues: { ':zero': 0, ':nanos': nanos },
    },
  },
  refused: () => new Error(`${organization} has no limiter, so the credit that its requests used can't be corrected.`),
});
