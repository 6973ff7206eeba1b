import { eventShardsOf, shardId, shardOf } from '../admission/item/shards.ts';
import type { Database } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { queryItems } from '../database/query.ts';
import type { Write } from '../database/transaction.ts';
import { requestTimeMs } from '../ids/request-id.ts';
import type { UsageEvent } from './event.ts';

/** Events are partitioned by ten minutes, so that one consistent query reads all events of a total. */
export const BUCKET_MS = 10 * 60_000;
const MAX_PARTITION_PAGES = 1_000;

// `key_…#2026-11-21T16:40Z`.
const bucketOf = (shard: string, atMs: number): string =>
  `${shard}#${new Date(Math.floor(atMs / BUCKET_MS) * BUCKET_MS).toISOString().slice(0, 16)}Z`;

// The key depends only on the request, so every settlement of it writes the same item. The events that rate a request
// again, `<request id>#2` and so on, are in the partition of its first one.
const keyOf = (keyId: string, eventId: string, shards: number) => {
  const [requestId = ''] = eventId.split('#', 1);
  return {
    usage_bucket: bucketOf(shardId(keyId, shardOf(requestId, eventShardsOf(shards))), requestTimeMs(requestId)),
    usage_event: eventId,
  };
};

// Loaded with the first read: most functions only write events.
const schema = async () => (await import('./event.ts')).UsageEvent;

/** The request of an event already has another one. */
export class EventExists extends Error {}

/** The events in the `usage` table. The only code that knows their keys. */
export const createUsageStore = (database: Database, table: string) => {
  const get = async (keyId: string, requestId: string, shards = 1): Promise<UsageEvent | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: keyOf(keyId, requestId, shards), ConsistentRead: true });
    return Item && (await schema()).parse(Item);
  };
  const toPut = (event: UsageEvent, shards: number) => ({
    TableName: table,
    Item: {
      ...keyOf(event.key_id, event.request_id, shards),
      ...event,
      ...(event.metadata && { metadata: JSON.stringify(event.metadata) }),
    },
    ConditionExpression: 'attribute_not_exists(usage_bucket)',
  });
  return {
    /** The current event of a request. @param shards of its key */
    get,

    /** Puts the event unless its request already has one, without reading that: callers need no permission for it. */
    addIfAbsent: async (event: UsageEvent, shards = 1): Promise<void> => {
      await isWritten(database.put(toPut(event, shards)));
    },

    /** Puts the event unless its request already has one; returns the stored event. */
    putIfAbsent: async (event: UsageEvent, shards = 1): Promise<UsageEvent> => {
      if (await isWritten(database.put(toPut(event, shards)))) return event;
      return (await get(event.key_id, event.request_id, shards)) as UsageEvent;
    },

    /** Puts an event as one write of a transaction; fails with EventExists if its request already has one. */
    toPut: (event: UsageEvent, shards: number): Write => ({ item: { Put: toPut(event, shards) }, refused: () => new EventExists() }),

    /**
     * The events of a key or one of its shards in the ten-minute bucket of `atMs`, oldest first.
     * @param after only events whose request id sorts after it
     * @param atOnce how many events are read at a time; default: 1 MB
     */
    listByBucket: async function* (
      shard: string,
      atMs: number,
      { after, atOnce }: { after?: string | undefined; atOnce?: number } = {},
    ): AsyncGenerator<UsageEvent> {
      const query = {
        TableName: table,
        KeyConditionExpression: `usage_bucket = :bucket${after === undefined ? '' : ' AND usage_event > :after'}`,
        ExpressionAttributeValues: { ':bucket': bucketOf(shard, atMs), ...(after !== undefined && { ':after': after }) },
        ConsistentRead: true,
        ...(atOnce && { Limit: atOnce }),
      };
      const UsageEvent = await schema();
      for await (const item of queryItems(database, query, MAX_PARTITION_PAGES)) yield UsageEvent.parse(item);
    },
  };
};

export type UsageStore = ReturnType<typeof createUsageStore>;
