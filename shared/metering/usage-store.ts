import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Database, isConditionFailed } from '../database/client.ts';
import { queryItems } from '../database/query.ts';
import { UsageEvent } from './event.ts';

const BUCKET_MS = 10 * 60_000;
const MAX_PAGES = 1_000;

/** The partition of a key's events in ten minutes: later totals are made from one consistent query of it. */
const bucketOf = (keyId: string, admittedAtMs: number): string =>
  `${keyId}#${new Date(Math.floor(admittedAtMs / BUCKET_MS) * BUCKET_MS).toISOString().slice(0, 16)}Z`;

/** An event's key follows from the admission alone, so whoever settles a request writes the same item. */
const keyOf = (event: Pick<UsageEvent, 'key_id' | 'admitted_at' | 'request_id'>) => ({
  usage_bucket: bucketOf(event.key_id, event.admitted_at),
  usage_event: `${event.admitted_at}#${event.request_id}`,
});

/** The `usage` table: events. The only code that knows its keys. */
export const createUsageStore = (database: Database, table: string) => ({
  /** Puts the event unless this request has one; returns the event that is stored. */
  putIfAbsent: async (event: UsageEvent): Promise<UsageEvent> => {
    const Key = keyOf(event);
    try {
      const Item = { ...Key, ...event, ...(event.metadata && { metadata: JSON.stringify(event.metadata) }) };
      await database.send(new PutCommand({ TableName: table, Item, ConditionExpression: 'attribute_not_exists(usage_bucket)' }));
      return event;
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      const { Item } = await database.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
      return UsageEvent.parse(Item);
    }
  },

  /** The events of a key admitted in the ten minutes that hold `atMs`, oldest first. */
  listByBucket: async function* (keyId: string, atMs: number): AsyncGenerator<UsageEvent> {
    const query = {
      TableName: table,
      KeyConditionExpression: 'usage_bucket = :bucket',
      ExpressionAttributeValues: { ':bucket': bucketOf(keyId, atMs) },
      ConsistentRead: true,
    };
    for await (const item of queryItems(database, query, MAX_PAGES)) yield UsageEvent.parse(item);
  },
});

export type UsageStore = ReturnType<typeof createUsageStore>;
