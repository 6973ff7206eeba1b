import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { toConfigure } from '../../../shared/admission/configuration.ts';
import type { LimiterItem } from '../../../shared/admission/limiter.ts';
import { createLimiterStore } from '../../../shared/admission/limiter-store.ts';
import { type Database, isConditionFailed } from '../../../shared/database/client.ts';
import { getItems } from '../../../shared/database/get-items.ts';
import type { Write } from '../../../shared/database/transaction.ts';

/** The `keys` table as the control plane works with it: what no request needs, and no request's function must carry. */
export const createLimiterDesk = (database: Database, table: string) => ({
  ...createLimiterStore(database, table),

  /** Changes what is configured, as one write of a transaction. */
  toConfigure: <Item extends LimiterItem>(id: string, changes: Partial<Item>, removed: readonly string[] = []): Write => ({
    item: { Update: { TableName: table, Key: { id }, ...toConfigure(changes, removed) } },
  }),

  /** Tells a key's limiter that its organization has one too, once. */
  tell: async (id: string): Promise<void> => {
    const write = database.send(
      new UpdateCommand({
        TableName: table,
        Key: { id },
        UpdateExpression: 'SET lim_o = :true ADD cfg :one',
        // Told already, or gone.
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(lim_o)',
        ExpressionAttributeValues: { ':true': true, ':one': 1 },
      }),
    );
    await write.catch((error: unknown) => {
      if (!isConditionFailed(error)) throw error;
    });
  },

  /** A new limiter item, as one write of a transaction. */
  toCreate: (item: LimiterItem): Write => ({
    item: { Put: { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(id)' } },
  }),

  /** When each of these limiters admitted its last request, in ms since the epoch; those that never did are absent. At most 100. */
  lastUses: async (ids: readonly string[]): Promise<Map<string, number>> => {
    const Keys = ids.map((id) => ({ id }));
    const items = await getItems(database, table, { Keys, ProjectionExpression: 'id, last_used' });
    return new Map(items.flatMap(({ id, last_used }) => (last_used === undefined ? [] : [[String(id), Number(last_used)] as const])));
  },
});

export type LimiterDesk = ReturnType<typeof createLimiterDesk>;
