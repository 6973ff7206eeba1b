import type { Database } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';

const ACTIVITY = 'activity#';

/** A model and whose it is: an organization's id, or the pool of shared models. */
export interface ActiveModel {
  pool: string;
  name: string;
}

/** The end of a model's last event, in milliseconds since the epoch. */
export interface LastEvent extends ActiveModel {
  atMs: number;
}

/**
 * When the last known request to a deployment ended, in the table `deployments`: from usage events, so it is known
 * about a minute later. It only ever moves forward, whatever the order in which events arrive.
 * @param table the table's name
 */
export const createActivityStore = (database: Database, table: string) => {
  const keyOf = ({ pool, name }: ActiveModel) => ({ account: pool, record: ACTIVITY + name });
  return {
    /** Milliseconds since the epoch; undefined: no request is known. */
    lastEventAt: async (model: ActiveModel): Promise<number | undefined> => {
      const { Item } = await database.get({ TableName: table, Key: keyOf(model), ConsistentRead: true });
      return Item?.last_event_at as number | undefined;
    },

    /** Records an event, unless a later one is recorded. */
    recordLast: async ({ atMs, ...model }: LastEvent): Promise<void> => {
      await isWritten(
        database.update({
          TableName: table,
          Key: keyOf(model),
          UpdateExpression: 'SET last_event_at = :at',
          ConditionExpression: 'attribute_not_exists(last_event_at) OR last_event_at < :at',
          ExpressionAttributeValues: { ':at': atMs },
        }),
      );
    },
  };
};

export type ActivityStore = ReturnType<typeof createActivityStore>;
