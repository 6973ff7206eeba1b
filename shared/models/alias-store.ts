import type { Database } from '../database/database.ts';
import { queryItems } from '../database/query.ts';
import type { Write } from '../database/transaction.ts';
import { PreconditionFailed } from '../http/errors.ts';
import { logError } from '../logging/log.ts';
import type { ModelAlias } from './model-alias.ts';

/** The most aliases that an owner can have: every refresh reads all of them. */
export const MAX_ALIASES = 100;

const MAX_LISTED_PAGES = 2;

// Loaded with the first read: most requests name a model.
const schemas = () => import('./model-alias.ts');

/** An alias was changed after it was read. */
export class AliasChanged extends PreconditionFailed {}

// A split that stops by itself must not be started again by a change of something else.
const hasSplitOf = (before: ModelAlias | undefined) => {
  const ExpressionAttributeNames = { '#split': 'split' };
  if (!before?.split) return { ConditionExpression: 'attribute_not_exists(#split)', ExpressionAttributeNames };
  const { id, stopped_at } = before.split;
  return {
    ConditionExpression: `#split.id = :id AND ${stopped_at === undefined ? 'attribute_not_exists' : 'attribute_exists'}(#split.stopped_at)`,
    ExpressionAttributeNames,
    ExpressionAttributeValues: { ':id': id },
  };
};

const partitionOf = (owner: string): string => `aliases#${owner}`;

/**
 * The aliases in the `models` table, with one partition per owner: an organization, or the pool of shared models for
 * aliases for all. The only code that knows their keys.
 */
export const createAliasStore = (database: Database, table: string) => ({
  /** An owner's aliases, by alias. */
  list: async (owner: string): Promise<Map<string, ModelAlias>> => {
    const query = {
      TableName: table,
      KeyConditionExpression: '#pool = :pool',
      ExpressionAttributeNames: { '#pool': 'pool' },
      ExpressionAttributeValues: { ':pool': partitionOf(owner) },
      ConsistentRead: true,
    };
    const { StoredModelAlias } = await schemas();
    const aliases = new Map<string, ModelAlias>();
    for await (const item of queryItems(database, query, MAX_LISTED_PAGES)) {
      const { data, error } = StoredModelAlias.safeParse(item);
      // One unreadable row must not make the other aliases unavailable.
      if (data) aliases.set(data.alias, data);
      else logError('model_alias_unreadable', error, { owner, alias: item.name });
    }
    return aliases;
  },

  /** An alias of an owner, or undefined. */
  get: async (owner: string, alias: string): Promise<ModelAlias | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { pool: partitionOf(owner), name: alias }, ConsistentRead: true });
    return Item && (await schemas()).StoredModelAlias.parse(Item);
  },

  /**
   * Creates an alias, or replaces the one that was read.
   * @param before undefined: there was none
   * @throws AliasChanged if its split has stopped or changed meanwhile
   */
  toPut: (owner: string, { alias, ...fields }: ModelAlias, before: ModelAlias | undefined): Write => ({
    item: {
      Put: { TableName: table, Item: { pool: partitionOf(owner), name: alias, alias, ...fields }, ...hasSplitOf(before) },
    },
    refused: () => new AliasChanged(),
  }),

  /** Stops a split. @throws AliasChanged if it has stopped or changed before */
  toStopSplit: (owner: string, alias: string, { id, stoppedAt }: { id: string; stoppedAt: number }): Write => ({
    item: {
      Update: {
        TableName: table,
        Key: { pool: partitionOf(owner), name: alias },
        UpdateExpression: 'SET #split.stopped_at = :at',
        ConditionExpression: '#split.id = :id AND attribute_not_exists(#split.stopped_at)',
        ExpressionAttributeNames: { '#split': 'split' },
        ExpressionAttributeValues: { ':id': id, ':at': stoppedAt },
      },
    },
    refused: () => new AliasChanged(),
  }),

  /** Deletes an alias, if it exists. */
  toDelete: (owner: string, alias: string): Write => ({
    item: { Delete: { TableName: table, Key: { pool: partitionOf(owner), name: alias } } },
  }),
});

export type AliasStore = ReturnType<typeof createAliasStore>;

/** The part that the data plane uses. */
export type AliasReader = Pick<AliasStore, 'list'>;
