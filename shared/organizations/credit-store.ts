import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { type Database, isConditionFailed } from '../database/client.ts';
import { queryItems } from '../database/query.ts';

const MAX_PAGES = 100;
const NUMBER_DIGITS = 8;

/** A grant of prepaid credit: an entry of the ledger, never changed. A correction is another grant, of less than nothing. */
export const Grant = z.object({
  organization: z.string(),
  /** Counted from 1 for each organization. */
  number: z.int().min(1),
  amount_nanos: z.union([z.int(), z.bigint()]).transform(BigInt),
  actor: z.string().min(1).max(200),
  reason: z.string().min(1).max(500),
  granted_at: z.int(),
});
export type Grant = z.output<typeof Grant>;

/** The ledger of credit in the table `accounts`. The only code that knows its keys. */
export const createCreditStore = (database: Database, table: string) => ({
  /** Writes a grant under its number; false where that number is taken. */
  put: async (grant: Grant): Promise<boolean> => {
    try {
      await database.send(
        new PutCommand({
          TableName: table,
          Item: { account: grant.organization, record: `grant#${String(grant.number).padStart(NUMBER_DIGITS, '0')}`, ...grant },
          ConditionExpression: 'attribute_not_exists(account)',
        }),
      );
      return true;
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      return false;
    }
  },

  /** An organization's grants in the order in which they were made. */
  list: async function* (organization: string): AsyncGenerator<Grant> {
    const query = {
      TableName: table,
      KeyConditionExpression: 'account = :organization AND begins_with(#record, :grants)',
      ExpressionAttributeNames: { '#record': 'record' },
      ExpressionAttributeValues: { ':organization': organization, ':grants': 'grant#' },
      ConsistentRead: true,
    };
    for await (const item of queryItems(database, query, MAX_PAGES)) yield Grant.parse(item);
  },
});

export type CreditStore = ReturnType<typeof createCreditStore>;
