import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database, Item, TransactItem } from '../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { outcomeOf } from './clients-fixtures.ts';

// Equal databases, one for each client, so that equal calls must have equal outcomes.
let ofSdk: TestDatabase;
let ofDirect: TestDatabase;
let Keys: string;
let Accounts: string;
beforeAll(async () => {
  [ofSdk, ofDirect] = await Promise.all([startTestDatabase(), startTestDatabase()]);
  ({ Keys, Accounts } = ofSdk.tables as { Keys: string; Accounts: string });
});
afterAll(async () => {
  await Promise.all([ofSdk.close(), ofDirect.close()]);
});

const run = async (database: Database, calls: readonly ((database: Database) => Promise<unknown>)[]): Promise<object[]> => {
  const outcomes: object[] = [];
  for (const call of calls) outcomes.push(await outcomeOf(call(database)));
  return outcomes;
};
const sameOutcomes = async (...calls: ((database: Database) => Promise<unknown>)[]): Promise<object[]> => {
  const expected = await run(ofSdk.sdk, calls);
  expect(await run(ofDirect.database, calls)).toEqual(expected);
  return expected;
};

const put =
  (Item: Item, TableName = Keys) =>
  (database: Database) =>
    database.put({ TableName, Item });
const get = (id: string) => (database: Database) => database.get({ TableName: Keys, Key: { id }, ConsistentRead: true });

describe('both clients', () => {
  test('have the same results for reads of an item', async () => {
    const [, found, missing] = await sameOutcomes(put({ id: 'read', n: 1, list: [1, 'two', null] }), get('read'), get('missing'));
    expect(found).toEqual({ value: { Item: { id: 'read', n: 1, list: [1, 'two', null] } } });
    expect(missing).toEqual({ value: {} });
  });

  test('have the same results for writes of an item, with the item before them', async () => {
    const again = (ReturnValues?: 'ALL_OLD') => (database: Database) =>
      database.put({ TableName: Keys, Item: { id: 'put', n: 2 }, ...(ReturnValues && { ReturnValues }) });
    const [, , old] = await sameOutcomes(put({ id: 'put', n: 1 }), again(), again('ALL_OLD'), get('put'));
    expect(old).toEqual({ value: { Attributes: { id: 'put', n: 2 } } });
  });

  test('have the same results for updates, with the item before and after them', async () => {
    const update = (ReturnValues?: 'ALL_OLD' | 'ALL_NEW') => (database: Database) =>
      database.update({
        TableName: Keys,
        Key: { id: 'update' },
        UpdateExpression: 'SET #m.#a = :a, l = list_append(l, :l) REMOVE gone ADD n :n',
        ConditionExpression: 'attribute_exists(id)',
        ExpressionAttributeNames: { '#m': 'map', '#a': 'a b' },
        ExpressionAttributeValues: { ':a': 'é', ':l': [1n], ':n': 2n ** 60n },
        ...(ReturnValues && { ReturnValues }),
      });
    const item = { id: 'update', map: {}, l: [], gone: 1, n: 1 };
    const outcomes = await sameOutcomes(put(item), update(), update('ALL_OLD'), update('ALL_NEW'), get('update'));
    expect(outcomes[3]).toEqual({ value: { Attributes: { id: 'update', map: { 'a b': 'é' }, l: [1, 1, 1], n: 3n * 2n ** 60n + 1n } } });
  });

  test('have the same results for deletions, with the item before them', async () => {
    const remove = (ReturnValues?: 'ALL_OLD') => (database: Database) =>
      database.delete({ TableName: Keys, Key: { id: 'delete' }, ...(ReturnValues && { ReturnValues }) });
    await sameOutcomes(put({ id: 'delete' }), remove('ALL_OLD'), remove('ALL_OLD'), remove(), get('delete'));
  });

  test('have the same results for batches of items of several tables', async () => {
    const account = { account: 'batch', record: 'r', n: 3 };
    const RequestItems = {
      [Keys]: { Keys: ['b1', 'b2', 'missing'].map((id) => ({ id })), ConsistentRead: true },
      [Accounts]: { Keys: [{ account: 'batch', record: 'r' }], ProjectionExpression: 'account, n' },
    };
    const batch = async (database: Database) => {
      const { Responses = {}, UnprocessedKeys } = await database.batchGet({ RequestItems });
      return { UnprocessedKeys, accounts: Responses[Accounts], keys: Responses[Keys]?.map(({ id }) => id).sort() };
    };
    const outcomes = await sameOutcomes(put({ id: 'b1' }), put({ id: 'b2' }), put(account, Accounts), batch);
    expect(outcomes[3]).toMatchObject({ value: { accounts: [{ account: 'batch', n: 3 }], keys: ['b1', 'b2'] } });
  });

  test('have the same results for transactions', async () => {
    const TransactItems: TransactItem[] = [
      { Put: { TableName: Keys, Item: { id: 't1', n: 2n ** 70n } } },
      {
        Update: {
          TableName: Keys,
          Key: { id: 't2' },
          UpdateExpression: 'SET #n = :n',
          ExpressionAttributeNames: { '#n': 'n' },
          ExpressionAttributeValues: { ':n': null },
        },
      },
      { Delete: { TableName: Keys, Key: { id: 't3' } } },
      { ConditionCheck: { TableName: Accounts, Key: { account: 't', record: 'r' }, ConditionExpression: 'attribute_not_exists(account)' } },
    ];
    const outcomes = await sameOutcomes(
      put({ id: 't3' }),
      (database) => database.transactWrite({ TransactItems }),
      get('t1'),
      get('t2'),
      get('t3'),
    );
    expect(outcomes).toEqual([
      { value: {} },
      { value: undefined },
      { value: { Item: { id: 't1', n: 2n ** 70n } } },
      { value: { Item: { id: 't2', n: null } } },
      { value: {} },
    ]);
  });
});

describe('both clients, page by page,', () => {
  /** All pages of a query of two items each. */
  const pages = (more: object) => async (database: Database) => {
    const read: unknown[] = [];
    let start: Item | undefined;
    do {
      const page = await database.query({
        TableName: Accounts,
        KeyConditionExpression: 'account = :a',
        ExpressionAttributeValues: { ':a': 'pages' },
        Limit: 2,
        ...(start && { ExclusiveStartKey: start }),
        ...more,
      });
      read.push(page);
      start = page.LastEvaluatedKey;
    } while (start && read.length < 10);
    return read;
  };
  beforeAll(async () => {
    for (const database of [ofSdk.sdk, ofDirect.database])
      for (let i = 0; i < 5; i++) await put({ account: 'pages', record: `r${i}`, n: i, text: 'é' }, Accounts)(database);
  });

  test.each([
    ['of a query', {}],
    ['in the reverse order', { ScanIndexForward: false, ConsistentRead: true }],
    ['with a projection', { ProjectionExpression: '#n', ExpressionAttributeNames: { '#n': 'n' } }],
    ['with a filter', { FilterExpression: 'n > :n', ExpressionAttributeValues: { ':a': 'pages', ':n': 2 } }],
    ['of an empty partition', { ExpressionAttributeValues: { ':a': 'nothing' } }],
  ])('%s', async (_, more) => {
    const [outcome] = await sameOutcomes(pages(more));
    expect(outcome).toHaveProperty('value');
  });

  test('read an index page by page', async () => {
    const more = {
      TableName: Keys,
      IndexName: 'organization',
      KeyConditionExpression: 'org = :o',
      ExpressionAttributeValues: { ':o': 'org_pages' },
    };
    const puts = [0, 1, 2, 3, 4].map((i) => put({ id: `indexed-${i}`, org: 'org_pages' }));
    const outcomes = await sameOutcomes(...puts, pages(more));
    expect((outcomes[5] as { value: { Items: Item[] }[] }).value.flatMap(({ Items }) => Items)).toHaveLength(5);
  });
});

describe('both clients at an error', () => {
  const item = { id: 'exists', n: 2n ** 64n, bytes: new Uint8Array([1, 2]) };
  const ALL_OLD = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  beforeAll(async () => {
    for (const database of [ofSdk.sdk, ofDirect.database]) await put(item)(database);
  });

  test('throw the same error for a failed condition, with the existing item if it is requested', async () => {
    const Item = { id: 'exists' };
    const put = { TableName: Keys, Item, ConditionExpression: 'attribute_not_exists(id)' };
    const update = { TableName: Keys, Key: Item, UpdateExpression: 'SET a = id', ConditionExpression: 'attribute_exists(absent)' };
    const remove = { TableName: Keys, Key: Item, ConditionExpression: 'attribute_exists(absent)' };
    const missing = { ...remove, Key: { id: 'not there' }, ...ALL_OLD };
    const outcomes = await sameOutcomes(
      (database) => database.put({ ...put, ...ALL_OLD }),
      (database) => database.update({ ...update, ...ALL_OLD }),
      (database) => database.delete({ ...remove, ...ALL_OLD }),
      (database) => database.put(put),
      (database) => database.update(update),
      (database) => database.delete(remove),
      (database) => database.delete(missing),
    );
    const failed = { name: 'ConditionFailed', isOutage: false };
    expect(outcomes).toEqual([{ ...failed, item }, { ...failed, item }, { ...failed, item }, failed, failed, failed, failed]);
  });

  test('throw the same error for a cancelled transaction, with the reasons and items of its writes', async () => {
    const check = (id: string, more = {}): TransactItem => ({
      ConditionCheck: { TableName: Keys, Key: { id }, ConditionExpression: 'attribute_exists(absent)', ...more },
    });
    const put: TransactItem = { Put: { TableName: Keys, Item: { id: 'never written' } } };
    const [outcome] = await sameOutcomes(
      (database) =>
        database.transactWrite({ TransactItems: [put, check('exists', ALL_OLD), check('not there', ALL_OLD), check('never written 2')] }),
      get('never written'),
    );
    const reasons = [
      { code: 'None' },
      { code: 'ConditionalCheckFailed', item },
      { code: 'ConditionalCheckFailed' },
      { code: 'ConditionalCheckFailed' },
    ];
    expect(outcome).toEqual({ name: 'TransactionCanceled', isOutage: false, reasons });
  });

  test.each([
    ['an expression that is not one', { UpdateExpression: 'SET' }],
    ['a value that is not given', { UpdateExpression: 'SET a = :a' }],
    ['a name that is not given', { UpdateExpression: 'SET #a = id' }],
    ['an operation on the wrong type', { UpdateExpression: 'SET bytes = bytes + :n', ExpressionAttributeValues: { ':n': 1 } }],
    ['a key without its attribute', { Key: { other: 'x' } }],
    ['a key of another type', { Key: { id: 1 } }],
    ['an empty key', { Key: { id: '' } }],
    ['a table that does not exist', { TableName: 'nothing' }],
    ['a number of 39 digits', { UpdateExpression: 'SET a = :n', ExpressionAttributeValues: { ':n': 10n ** 39n - 1n } }],
  ])('throw the same error for %s, which is our mistake and no outage', async (_, more) => {
    const input = { TableName: Keys, Key: { id: 'exists' }, UpdateExpression: 'SET a = id', ...more };
    const [outcome] = await sameOutcomes((database) => database.update(input));
    expect(outcome).toEqual({ name: expect.stringMatching(/^(?:ValidationException|ResourceNotFoundException)$/), isOutage: false });
  });
});
