import { ConditionFailed, type Database } from '../../database/database.ts';
import { isWritten } from '../../database/is-written.ts';
import type { LimiterItem } from '../item/limiter-item.ts';
import { userLimiterId } from '../item/user-limiter.ts';

interface NewUserCount {
  keyId: string;
  /** Since the epoch. */
  minute: number;
  /** The most new users in the minute. */
  most: number;
  /** In seconds since the epoch. */
  deleteAt: number;
}

/** The limiters of the end users of keys, which are created when a user's first request comes. */
export const createUserLimiterStore = (database: Database, table: string) => ({
  /** Counts a new user of a key in a minute; false if the minute already has the most. */
  countNewUser: ({ keyId, minute, most, deleteAt }: NewUserCount): Promise<boolean> =>
    isWritten(
      database.update({
        TableName: table,
        Key: { id: userLimiterId(keyId, String(minute)) },
        UpdateExpression: 'SET del_at = :delete ADD added :one',
        ConditionExpression: 'attribute_not_exists(added) OR added < :most',
        ExpressionAttributeValues: { ':delete': deleteAt, ':one': 1, ':most': most },
      }),
    ),

  /** Creates the limiter of a user without counts, or returns the one that exists. @param deleteAt in seconds */
  createUser: async (id: string, deleteAt: number): Promise<LimiterItem> => {
    try {
      const { Attributes } = await database.update({
        TableName: table,
        Key: { id },
        UpdateExpression: 'SET #status = :active, cfg = :one, fl = :none, del_at = :delete',
        ConditionExpression: 'attribute_not_exists(id)',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':active': 'active', ':one': 1, ':none': {}, ':delete': deleteAt },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      return Attributes as unknown as LimiterItem;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return error.item as unknown as LimiterItem;
    }
  },
});
