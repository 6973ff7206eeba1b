import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Database } from '../database/client.ts';
import { queryItems } from '../database/query.ts';
import type { Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import { logError } from '../logging/log.ts';
import { Price } from '../prices/price.ts';
import { ModelExists } from './errors.ts';
import { Model, type NewModel } from './model.ts';

/** The shared models; an organization's own deployments have its id as their pool. */
export const SERVERLESS_POOL = 'serverless';

const MAX_PAGES = 20;

/** What a later release adds to a row does not keep this one from reading it. */
const Stored = Model.strip();

/** The row is there, as it was read. One from before versions were counted has none, and is of version 1. */
const isOfVersion = (version: number) => ({
  ConditionExpression:
    version === 1
      ? 'attribute_exists(#pool) AND (attribute_not_exists(#version) OR #version = :version)'
      : 'attribute_exists(#pool) AND #version = :version',
  ExpressionAttributeNames: { '#pool': 'pool', '#version': 'version' },
  ExpressionAttributeValues: { ':version': version },
});

const retired = (pool: string): string => `retired#${pool}`;

const changedMeanwhile = (): PreconditionFailed => new PreconditionFailed();

/** The `models` table: the inventory, one partition a pool. The only code that knows its keys. */
export const createModelStore = (database: Database, table: string) => ({
  put: async (pool: string, model: NewModel): Promise<void> => {
    await database.send(new PutCommand({ TableName: table, Item: { pool, ...Model.parse(model) } }));
  },

  get: async (pool: string, name: string): Promise<Model | undefined> => {
    const { Item } = await database.send(new GetCommand({ TableName: table, Key: { pool, name }, ConsistentRead: true }));
    return Item && Stored.parse(Item);
  },

  /** Every model of a pool by name. */
  list: async (pool: string): Promise<Map<string, Model>> => {
    const query = {
      TableName: table,
      KeyConditionExpression: '#pool = :pool',
      ExpressionAttributeNames: { '#pool': 'pool' },
      ExpressionAttributeValues: { ':pool': pool },
      ConsistentRead: true,
    };
    const models = new Map<string, Model>();
    for await (const { pool: _, ...item } of queryItems(database, query, MAX_PAGES)) {
      const { data: model, error } = Stored.safeParse(item);
      // One row that cannot be read must not take every other model down.
      if (model) models.set(model.name, model);
      else logError('model_unreadable', error, { pool, model: item.name });
    }
    return models;
  },

  /** A model that must not be there yet: 409. */
  toCreate: (pool: string, model: Model): Write => ({
    item: {
      Put: {
        TableName: table,
        Item: { pool, ...model },
        ConditionExpression: 'attribute_not_exists(#pool)',
        ExpressionAttributeNames: { '#pool': 'pool' },
      },
    },
    refused: () => new ModelExists(model.name),
  }),

  /** A model in place of the version that was read: 412 where it is another by now. The version is counted up. */
  toReplace: (pool: string, model: Model): Write => ({
    item: { Put: { TableName: table, Item: { pool, ...model, version: model.version + 1 }, ...isOfVersion(model.version) } },
    refused: changedMeanwhile,
  }),

  /** The prices that models of this name had which were deleted: usage events name their versions. */
  retiredPrices: async (pool: string, name: string): Promise<Price[]> => {
    const { Item } = await database.send(new GetCommand({ TableName: table, Key: { pool: retired(pool), name }, ConsistentRead: true }));
    return Item ? z.array(Price).parse(Item.prices) : [];
  },

  /** Keeps the prices of a model that goes. */
  toRetire: (pool: string, name: string, prices: readonly Price[]): Write => ({
    item: { Put: { TableName: table, Item: { pool: retired(pool), name, prices } } },
  }),

  /** Removes a model as it was read: 412 where it is another by now. */
  toDelete: (pool: string, { name, version }: Pick<Model, 'name' | 'version'>): Write => ({
    item: { Delete: { TableName: table, Key: { pool, name }, ...isOfVersion(version) } },
    refused: changedMeanwhile,
  }),
});

export type ModelStore = ReturnType<typeof createModelStore>;

/** What the data plane reads of it. */
export type ModelReader = Pick<ModelStore, 'list'>;
