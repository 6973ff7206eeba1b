import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { recompute } from '../../../functions/rollup/rollup.ts';
import { ConditionFailed, type Database, readNumber } from '../../../shared/database/database.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { BUCKET_MS } from '../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { rollupStores } from '../../support/fixtures/rollups.ts';

const START = Date.parse('2026-11-21T12:00Z');

let database: TestDatabase;
let client: DynamoDBDocumentClient;
const units = { read: 0, write: 0 };
beforeAll(async () => {
  database = await startTestDatabase();
  const place = { endpoint: database.url, region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } };
  client = DynamoDBDocumentClient.from(new DynamoDBClient(place), {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: readNumber },
  });
});
afterAll(async () => {
  client.destroy();
  await database.close();
});

// Counts the units that DynamoDB charges for.
const counting = (): Database => ({
  ...database.database,
  query: async (input) => {
    const output = await client.send(new QueryCommand({ ...input, ReturnConsumedCapacity: 'TOTAL' }));
    units.read += output.ConsumedCapacity?.CapacityUnits ?? 0;
    return output;
  },
  put: async (input) => {
    try {
      const output = await client.send(new PutCommand({ ...input, Item: { ...input.Item }, ReturnConsumedCapacity: 'TOTAL' }));
      units.write += output.ConsumedCapacity?.CapacityUnits ?? 0;
      return {};
    } catch (error) {
      // A write whose condition fails is charged like one that succeeds.
      units.write++;
      throw error instanceof Error && error.name === 'ConditionalCheckFailedException' ? new ConditionFailed(undefined) : error;
    }
  },
});

const eventOf = (key: { id: string; organization: string }, atMs: number, user: string | undefined): UsageEvent => ({
  request_id: newRequestId(atMs),
  key_id: key.id,
  org_id: key.organization,
  model: 'llama-3.1-8b-instruct',
  route: '/v1/chat/completions',
  prompt_tokens: 812,
  cached_tokens: 96,
  completion_tokens: 214,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: atMs,
  time_to_first_token_ms: 80 + (atMs % 400),
  duration_ms: 900 + (atMs % 7_000),
  cost_nanos: 123_456n,
  price_version: 'price_1',
  endpoint: 'sluice-dddddddddddddddddd-g1',
  ...(user !== undefined && { user }),
});

// Per request.
const measure = async ({ perMinute, users, minutes }: { perMinute: number; users: number; minutes: number }) => {
  const key = { id: newId('key'), organization: newId('organization') };
  const deps = rollupStores(counting(), database.tables.Usage as string);
  Object.assign(units, { read: 0, write: 0 });
  for (let minute = 0; minute < minutes; minute++) {
    const startMs = START + minute * MINUTE_MS;
    const events = Array.from({ length: perMinute }, (_, i) =>
      eventOf(key, startMs + Math.floor((i * MINUTE_MS) / perMinute), users > 0 ? `user-${(minute * perMinute + i) % users}` : undefined),
    );
    for (let i = 0; i < events.length; i += 100)
      await Promise.all(events.slice(i, i + 100).map((event) => database.usage.putIfAbsent(event)));
    await recompute(deps, [{ shard: key.id, startMs: Math.floor(startMs / BUCKET_MS) * BUCKET_MS }]);
  }
  const requests = perMinute * minutes;
  return { read: units.read / requests, write: units.write / requests };
};

describe('the totals of a key and its organization cost', () => {
  // With a batch a minute. Within ten minutes of many requests, the events themselves are what is read most.
  test.each([
    ['one a minute: a lonely request of a deployment pays for 16 rows', { perMinute: 1, users: 0, minutes: 12 }, { write: 16, read: 21 }],
    ['one a second', { perMinute: 60, users: 0, minutes: 5 }, { write: 0.27, read: 1.2 }],
    ['one a second of 50 users, who have rows of their own', { perMinute: 60, users: 50, minutes: 3 }, { write: 4, read: 3 }],
  ])('few units per request at %s', async (_, traffic, most) => {
    const { read, write } = await measure(traffic);
    expect(write).toBeGreaterThan(0);
    expect(write).toBeLessThanOrEqual(most.write);
    expect(read).toBeLessThanOrEqual(most.read);
  });
});
