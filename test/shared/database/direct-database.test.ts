import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../shared/database/database.ts';
import { createDirectDatabases } from '../../../shared/database/direct-database.ts';
import { createItemReader } from '../../../shared/database/item-reader.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import { UnreadMap } from '../../../shared/database/unread-map.ts';
import { type Answer, type FakeAws, startFakeAws } from '../../support/emulators/fake-aws.ts';

let dynamodb: FakeAws;
let database: Database;
let once: Database;
beforeAll(async () => {
  dynamodb = await startFakeAws();
  const place = { endpoint: dynamodb.url, region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } };
  ({ database, once } = createDirectDatabases(place));
});
afterAll(() => dynamodb.close());

const TableName = 't';
const Key = { id: 'x' };
const calls: [keyof Database, (database: Database) => Promise<unknown>][] = [
  ['get', (database) => database.get({ TableName, Key })],
  ['batchGet', (database) => database.batchGet({ RequestItems: { t: { Keys: [Key] } } })],
  ['query', (database) => database.query({ TableName, KeyConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': 'x' } })],
  ['put', (database) => database.put({ TableName, Item: Key })],
  ['update', (database) => database.update({ TableName, Key, UpdateExpression: 'SET a = id' })],
  ['delete', (database) => database.delete({ TableName, Key })],
  ['transactWrite', (database) => database.transactWrite({ TransactItems: [{ Put: { TableName, Item: Key } }] })],
];

const breaks: Answer = (response) => response.destroy();

describe.each(calls)('the call %s', (_, call) => {
  test('sends the same request in each of its three attempts, and is a 503 after them', async () => {
    dynamodb.answers(breaks);
    await expect(call(database)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect(dynamodb.received).toHaveLength(3);
    expect(new Set(dynamodb.received.map(({ body, headers }) => `${headers['x-amz-target']} ${body}`)).size).toBe(1);
  });

  test('sends its request once if it must not be repeated', async () => {
    dynamodb.answers(breaks);
    await expect(call(once)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect(dynamodb.received).toHaveLength(1);
  });

  test.each(['', '{"Item":', '<html>'])('is a 503 if its replies %j are not JSON', async (body) => {
    dynamodb.answers((response) => response.end(body));
    await expect(call(database)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect(dynamodb.received).toHaveLength(3);
  });
});

test('gives each transaction a token of its own, which all of its attempts share', async () => {
  const tokens: string[] = [];
  for (let i = 0; i < 2; i++) {
    dynamodb.answers((response, attempt) => {
      if (attempt === 1) response.destroy();
      else response.writeHead(attempt === 2 ? 500 : 200).end('{}');
    });
    await database.transactWrite({ TransactItems: [{ Put: { TableName, Item: Key } }] });
    const sent = dynamodb.received.map(({ body }) => JSON.parse(body).ClientRequestToken);
    expect(sent).toEqual([expect.stringMatching(/^[\w-]{36}$/), sent[0], sent[0]]);
    tokens.push(sent[0]);
  }
  expect(tokens[0]).not.toBe(tokens[1]);
});

describe('an item that an update returns', () => {
  const Attributes = { id: { S: 'x' }, fl: { M: { a: { L: [{ N: '1' }] }, b: { L: [{ N: '2' }] } } } };
  const image = { id: 'x', fl: { a: [1], b: [2] } };
  const update = (of: Database) => of.update({ TableName, Key, UpdateExpression: 'SET a = id', ReturnValues: 'ALL_NEW' });
  const open = (unread: string): Database => {
    const place = { endpoint: dynamodb.url, region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } };
    return createDirectDatabases({ ...place, readItem: createItemReader(unread) }).database;
  };

  test('is read by the reader', async () => {
    dynamodb.answers((response) => response.end(JSON.stringify({ Attributes })));
    expect(await update(open('fl'))).toEqual({ Attributes: { id: 'x', fl: expect.any(UnreadMap) } });
  });

  test('is parsed if the reader can’t read it', async () => {
    dynamodb.answers((response) => response.end(JSON.stringify({ Attributes })));
    expect(await update(open('other'))).toEqual({ Attributes: image });
    dynamodb.answers((response) => response.end(JSON.stringify({ Attributes }, null, 1)));
    expect(await update(open('fl'))).toEqual({ Attributes: image });
  });

  test('may be missing', async () => {
    dynamodb.answers((response) => response.end('{}'));
    expect(await update(open('fl'))).toEqual({});
  });
});
