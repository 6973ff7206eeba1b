import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Database } from '../database/client.ts';
import { Model } from './model.ts';

/** The shared models; an organization's own deployments have its id as their pool. */
export const SERVERLESS_POOL = 'serverless';

const MAX_PAGES = 20;

/** The `models` table: the inventory, one partition a pool. */
export const createModelStore = (database: Database, table: string) => ({
  put: async (pool: string, model: Model): Promise<void> => {
    await database.send(new PutCommand({ TableName: table, Item: { pool, ...Model.parse(model) } }));
  },

  /** Every model of a pool by name. */
  list: async (pool: string): Promise<Map<string, Model>> => {
    const models = new Map<string, Model>();
    let start: Record<string, unknown> | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { Items = [], LastEvaluatedKey } = await database.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#pool = :pool',
          ExpressionAttributeNames: { '#pool': 'pool' },
          ExpressionAttributeValues: { ':pool': pool },
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
      for (const { pool: _, ...item } of Items) models.set(item.name as string, Model.parse(item));
      if (!LastEvaluatedKey) return models;
      start = LastEvaluatedKey;
    }
    throw new Error(`More than ${MAX_PAGES} pages of models in the pool ${pool}.`);
  },
});

export type ModelStore = ReturnType<typeof createModelStore>;
