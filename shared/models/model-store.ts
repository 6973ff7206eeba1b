import type { Database } from '../database/database.ts';
import { queryItems } from '../database/query.ts';
import type { Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import { logError } from '../logging/log.ts';
import type { Price } from '../prices/price.ts';
import { ModelExists } from './errors.ts';
import type { Model, NewModel } from './model.ts';
import { fromStoredCapabilities, toStoredCapabilities } from './stored-capabilities.ts';

/** The pool of shared models; the pool of an organization's deployments is the organization's id. */
export const SERVERLESS_POOL = 'serverless';

const MAX_LISTED_PAGES = 20;

// Loaded with the first read: a request that is rejected before it needs a model does not wait for these schemas.
const schemas = () => import('./model.ts');

// Rows from before versioning have no version attribute, which counts as version 1.
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

/** The `models` table: the inventory, with one partition per pool. The only code that knows its key attributes. */
export const createModelStore = (database: Database, table: string) => ({
  put: async (pool: string, model: NewModel): Promise<void> => {
    await database.put({ TableName: table, Item: { pool, ...toStoredCapabilities((await schemas()).Model.parse(model)) } });
  },

  get: async (pool: string, name: string): Promise<Model | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { pool, name }, ConsistentRead: true });
    return Item && (await schemas()).StoredModel.parse(fromStoredCapabilities(Item));
  },

  /** All models of a pool, by name. */
  list: async (pool: string): Promise<Map<string, Model>> => {
    const query = {
      TableName: table,
      KeyConditionExpression: '#pool = :pool',
      ExpressionAttributeNames: { '#pool': 'pool' },
      ExpressionAttributeValues: { ':pool': pool },
      ConsistentRead: true,
    };
    const { StoredModel } = await schemas();
    const models = new Map<string, Model>();
    for await (const { pool: _, ...item } of queryItems(database, query, MAX_LISTED_PAGES)) {
      const { data: model, error } = StoredModel.safeParse(fromStoredCapabilities(item));
      // One unreadable row must not make the other models unavailable.
      if (model) models.set(model.name, model);
      else logError('model_unreadable', error, { pool, model: item.name });
    }
    return models;
  },

  /** Creates a model: 409 if it already exists. */
  toCreate: (pool: string, model: Model): Write => ({
    item: {
      Put: {
        TableName: table,
        Item: { pool, ...toStoredCapabilities(model) },
        ConditionExpression: 'attribute_not_exists(#pool)',
        ExpressionAttributeNames: { '#pool': 'pool' },
      },
    },
    refused: () => new ModelExists(model.name),
  }),

  /** Checks that there is no such model: 409 if there is. */
  toCheckAbsent: (pool: string, name: string): Write => ({
    item: {
      ConditionCheck: {
        TableName: table,
        Key: { pool, name },
        ConditionExpression: 'attribute_not_exists(#pool)',
        ExpressionAttributeNames: { '#pool': 'pool' },
      },
    },
    refused: () => new ModelExists(name),
  }),

  /** Replaces the version that was read and increments the version: 412 if another change came first. */
  toReplace: (pool: string, model: Model): Write => ({
    item: {
      Put: { TableName: table, Item: { pool, ...toStoredCapabilities(model), version: model.version + 1 }, ...isOfVersion(model.version) },
    },
    refused: changedMeanwhile,
  }),

  /** The prices of deleted models with this name: usage events refer to their versions. */
  retiredPrices: async (pool: string, name: string): Promise<Price[]> => {
    const { Item } = await database.get({ TableName: table, Key: { pool: retired(pool), name }, ConsistentRead: true });
    return Item ? (await schemas()).RetiredPrices.parse(Item.prices) : [];
  },

  /** Stores the prices of a model that is deleted. */
  toRetire: (pool: string, name: string, prices: readonly Price[]): Write => ({
    item: { Put: { TableName: table, Item: { pool: retired(pool), name, prices } } },
  }),

  /** Deletes the version that was read: 412 if another change came first. */
  toDelete: (pool: string, { name, version }: Pick<Model, 'name' | 'version'>): Write => ({
    item: { Delete: { TableName: table, Key: { pool, name }, ...isOfVersion(version) } },
    refused: changedMeanwhile,
  }),
});

export type ModelStore = ReturnType<typeof createModelStore>;

/** The part that the data plane uses. */
export type ModelReader = Pick<ModelStore, 'list'>;
