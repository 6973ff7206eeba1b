import { eventShardsOf, shardId, shardOf } from '../admission/shards.ts';
import { ConditionFailed, type Database } from '../database/database.ts';
import { queryItems } from '../database/query.ts';
import { requestTimeMs } from '../ids/request-id.ts';
import { UsageEvent } from './event.ts';

/** Events are partitioned by ten minutes, so that one consistent query reads all events of a total. */
export const BUCKET_MS = 10 * 60_000;
const MAX_PAGES = 1_000;

/** The partition of ten minutes of events of a key or shard: `key_…#2026-11-21T16:40Z`. */
const bucketOf = (shard: string, atMs: number): string =>
  `${shard}#${new Date(Math.floor(atMs / BUCKET_MS) * BUCKET_MS).toISOString().slice(0, 16)}Z`;

/** An event's key depends only on its request, so every settlement of the request writes the same item. */
const keyOf = (keyId: string, requestId: string, shards: number) => ({
  usage_bucket: bucketOf(shardId(keyId, shardOf(requestId, eventShardsOf(shards))), requestTimeMs(requestId)),
  usage_event: requestId,
});

/** The events in the `usage` table. The only code that knows their keys. */
export const createUsageStore = (database: Database, table: string) => {
  const get = async (keyId: string, requestId: string, shards = 1): Promise<UsageEvent | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: keyOf(keyId, requestId, shards), ConsistentRead: true });
    return Item && UsageEvent.parse(Item);
  };
  return {
    /** The current event of a request. @param shards of its key */
    get,

    /** Puts the event unless its request already has one; returns the stored event. */
    putIfAbsent: async (event: UsageEvent, shards = 1): Promise<UsageEvent> => {
      const Key = keyOf(event.key_id, event.request_id, shards);
      try {
        const Item = { ...Key, ...event, ...(event.metadata && { metadata: JSON.stringify(event.metadata) }) };
        await database.put({ TableName: table, Item, ConditionExpression: 'attribute_not_exists(usage_bucket)' });
        return event;
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        return (await get(event.key_id, event.request_id, shards)) as UsageEvent;
      }
    },

    /** The events of a key or one of its shards in the ten-minute bucket of `atMs`, oldest first. */
    listByBucket: async function* (shard: string, atMs: number): AsyncGenerator<UsageEvent> {
      const query = {
        TableName: table,
        KeyConditionExpression: 'usage_bucket = :bucket',
        ExpressionAttributeValues: { ':bucket': bucketOf(shard, atMs) },
        ConsistentRead: true,
      };
      for await (const item of queryItems(database, query, MAX_PAGES)) yield UsageEvent.parse(item);
    },
  };
};

export type UsageStore = ReturnType<typeof createUsageStore>;
