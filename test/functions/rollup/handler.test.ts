import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import fc from 'fast-check';
import { createDatabaseCalls } from '../../../infra/local/dynamodb/database-calls.ts';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { toLambdaRecord } from '../../../infra/local/streams/lambda-record.ts';
import { createStreamReader } from '../../../infra/local/streams/stream-reader.ts';
import { createRollupStore } from '../../../shared/usage/rollup-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import {
  DAY,
  DAY_BEFORE,
  Draft,
  eventsOf,
  inOrder,
  newKeys,
  organizationOf,
  plainSums,
  shardsOfKey,
} from '../../support/fixtures/usage-events.ts';

const SILENCE_MS = 60_000;

const keys = newKeys();
const events = eventsOf(keys, fc.sample(Draft, { seed: 5, numRuns: 10 }));
let database: TestDatabase;
let records: DynamoDBRecord[];
// The messages in the queue of billing tasks.
const messages: { MessageBody: string; MessageGroupId: string }[] = [];
let isQueueAway = false;
const queue = createServer(async (incoming, outgoing) => {
  const message = JSON.parse(Buffer.concat(await Array.fromAsync(incoming)).toString());
  if (!isQueueAway) messages.push(message);
  outgoing.writeHead(isQueueAway ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}');
});
let handler: (event: DynamoDBStreamEvent, context: Pick<Context, 'getRemainingTimeInMillis'>) => Promise<void>;

const readStream = async (table: string): Promise<DynamoDBRecord[]> => {
  const pages = await Array.fromAsync(createStreamReader(createDatabaseCalls(database.url, SILENCE_MS), table).poll());
  return pages.flat().map((record) => toLambdaRecord(record, 'arn:stream') as DynamoDBRecord);
};

beforeAll(async () => {
  database = await startTestDatabase({ hasStreams: true });
  const table = database.tables.Usage as string;
  for (const event of events) await database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));
  records = await readStream(table);
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    USAGE_TABLE: table,
    DEPLOYMENTS_TABLE: database.tables.Deployments,
    OBSERVABILITY_TABLE: database.tables.Observability,
    MODELS_TABLE: database.tables.Models,
    AUDIT_TABLE: database.tables.Audit,
    NOTIFICATIONS_TABLE: database.tables.Notifications,
    AWS_ENDPOINT_URL_SQS: await listen(queue, 0),
    BILLING_QUEUE: 'http://127.0.0.1/000000000000/tasks.fifo',
  });
  const rollup = await import('../../../functions/rollup/handler.ts');
  handler = (event, context) => rollup.handler(event, context as Context);
});
afterAll(async () => {
  await closeServer(queue);
  await database.close();
});

describe('the rollup function', () => {
  test('recomputes the totals of every bucket in a batch from the keys of its records', async () => {
    expect(records).toHaveLength(events.length);
    await handler({ Records: [...records, ...records] }, { getRemainingTimeInMillis: () => 300_000 });
    const rollups = createRollupStore(database.database, database.tables.Usage as string);
    const stored = Object.values(keys).map((keyId) => Array.fromAsync(rollups.listDays(keyId, DAY_BEFORE, DAY)));
    const sums = plainSums(keys, events).filter(({ bucket }) => !bucket);
    expect(inOrder((await Promise.all(stored)).flat())).toEqual(inOrder(sums));
  });

  test('sends an alert task for each organization in a batch, or fails so that the batch is sent again', async () => {
    messages.length = 0;
    const run = () => handler({ Records: records }, { getRemainingTimeInMillis: () => 300_000 });
    await run();
    const tasks = messages.map(({ MessageBody }) => JSON.parse(MessageBody));
    const [own, foreign] = [organizationOf(keys, keys.plain), organizationOf(keys, keys.foreign)];
    expect(tasks).toHaveLength(2);
    expect(tasks).toContainEqual({ task: 'alert', organization: own, keys: [keys.plain, keys.sharded].sort() });
    expect(tasks).toContainEqual({ task: 'alert', organization: foreign, keys: [keys.foreign] });
    expect(messages.map(({ MessageGroupId }) => MessageGroupId).sort()).toEqual([`alert-${own}`, `alert-${foreign}`].sort());
    isQueueAway = true;
    await expect(run()).rejects.toThrow('2 failed');
    isQueueAway = false;
  });

  test('stops a minute before its timeout and fails, so that the batch is sent again', async () => {
    await expect(handler({ Records: records }, { getRemainingTimeInMillis: () => 60_000 })).rejects.toThrow('Ran out of time');
  });

  test('fails on a record that is not an event, which the event source mapping should filter out', async () => {
    const Keys = { usage_bucket: { S: 'day#key_1' }, usage_event: { S: `${DAY}#m` } };
    await expect(handler({ Records: [{ dynamodb: { Keys } }] }, { getRemainingTimeInMillis: () => 300_000 })).rejects.toThrow(
      "'day#key_1' is not the partition of an event",
    );
  });
});
