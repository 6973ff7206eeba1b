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

const FIRST_VERSION = 1;

/** The version of an alias; 0: there is none. */
export const versionOfAlias = (alias: ModelAlias | undefined): number => (alias ? (alias.version ?? FIRST_VERSION) : 0);

// It has not changed since it was read. A split that stops by itself must not be started again by another change.
const isAsRead = (before: ModelAlias | undefined) => {
  if (!before) return { ConditionExpression: 'attribute_not_exists(#pool)', ExpressionAttributeNames: { '#pool': 'pool' } };
  if (before.version === undefined)
    return {
      ConditionExpression: 'attribute_exists(#pool) AND attribute_not_exists(#version)',
      ExpressionAttributeNames: { '#pool': 'pool', '#version': 'version' },
    };
  return {
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':version': before.version },
  };
};

interface SplitStop {
  /** The id of the split. */
  id: string;
  /** Unix seconds. */
  stoppedAt: number;
  requests: number;
  failed: number;
}

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
   * @throws AliasChanged if it has changed meanwhile, for instance because its split has stopped
   */
  toPut: (owner: string, { alias, ...fields }: ModelAlias, before: ModelAlias | undefined): Write => ({
    item: {
      Put: {
        TableName: table,
        Item: { pool: partitionOf(owner), name: alias, alias, ...fields, version: versionOfAlias(before) + 1 },
        ...isAsRead(before),
      },
    },
    refused: () => new AliasChanged(),
  }),

  /** Stops a split because of these requests. @throws AliasChanged if it has stopped or changed before */
  toStopSplit: (owner: string, alias: string, { id, stoppedAt, requests, failed }: SplitStop): Write => ({
    item: {
      Update: {
        TableName: table,
        Key: { pool: partitionOf(owner), name: alias },
        UpdateExpression: 'SET #split.stopped_at = :at, #split.stopped_by = :by, #version = if_not_exists(#version, :first) + :one',
        ConditionExpression: '#split.id = :id AND attribute_not_exists(#split.stopped_at)',
        ExpressionAttributeNames: { '#split': 'split', '#version': 'version' },
        ExpressionAttributeValues: {
          ':id': id,
          ':at': stoppedAt,
          ':by': { requests, failed_requests: failed },
          ':first': FIRST_VERSION,
          ':one': 1,
        },
      },
    },
    refused: () => new AliasChanged(),
  }),

  /** Deletes an alias that was read. @throws AliasChanged if it has changed meanwhile */
  toDelete: (owner: string, before: ModelAlias): Write => ({
    item: { Delete: { TableName: table, Key: { pool: partitionOf(owner), name: before.alias }, ...isAsRead(before) } },
    refused: () => new AliasChanged(),
  }),
});

export type AliasStore = ReturnType<typeof createAliasStore>;

/** The part that the data plane uses. */
export type AliasReader = Pick<AliasStore, 'list'>;
