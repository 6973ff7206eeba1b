import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Database } from '../database/client.ts';
import { queryItems } from '../database/query.ts';
import { logError } from '../logging/log.ts';
import { Model, type NewModel } from './model.ts';

/** The shared models; an organization's own deployments have its id as their pool. */
export const SERVERLESS_POOL = 'serverless';

const MAX_PAGES = 20;

/** The `models` table: the inventory, one partition a pool. */
export const createModelStore = (database: Database, table: string) => ({
  put: async (pool: string, model: NewModel): Promise<void> => {
    await database.send(new PutCommand({ TableName: table, Item: { pool, ...Model.parse(model) } }));
  },

  /** Every model of a pool by name. */
  list: async (pool: string): Promise<Map<string, Model>> => {
    const query = {
      TableName: table,
      KeyConditionExpression: '#pool = :pool',
      ExpressionAttributeNames: { '#pool': 'pool' },
      ExpressionAttributeValues: { ':pool': pool },
    };
    const models = new Map<string, Model>();
    for await (const { pool: _, ...item } of queryItems(database, query, MAX_PAGES)) {
      const { data: model, error } = Model.safeParse(item);
      // One row that cannot be read must not take every other model down.
      if (model) models.set(model.name, model);
      else logError('model_unreadable', error, { pool, model: item.name });
    }
    return models;
  },
});

export type ModelStore = ReturnType<typeof createModelStore>;
