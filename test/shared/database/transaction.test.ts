import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, TransactionCanceled } from '../../../shared/database/database.ts';
import { MAX_WRITES, transact, type Write } from '../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const put = (table: 'Accounts' | 'Keys', key: object, refused?: Write['refused'], condition?: string): Write => ({
  item: {
    Put: { TableName: database.tables[table] as string, Item: { ...key, n: 1 }, ...(condition && { ConditionExpression: condition }) },
  },
  ...(refused && { refused }),
});

test('makes all writes or none, in any tables', async () => {
  const place = { account: 'a', record: '1' };
  await transact(database.database, [put('Accounts', place), put('Keys', { id: 'k1' })]);
  expect(await database.limiters.get('k1')).toMatchObject({ n: 1 });
  const refused = transact(database.database, [
    put('Keys', { id: 'k2' }),
    put('Accounts', place, (row) => new Error(`n is ${String(row?.n)}`), 'attribute_not_exists(account)'),
  ]);
  await expect(refused).rejects.toThrow('n is 1');
  expect(await database.limiters.get('k2')).toBeUndefined();
});

test('throws the error of the first failed condition', async () => {
  const write = (name: string): Write => put('Keys', { id: 'k1' }, () => new Error(name), 'attribute_not_exists(id)');
  const other: Write = { ...write('second'), item: { ...put('Keys', { id: 'k3' }).item } };
  await expect(transact(database.database, [other, write('first')])).rejects.toThrow('first');
});

const failing = (times: number, reasons: { code: string }[]) => {
  let left = times;
  let calls = 0;
  const transactWrite: Database['transactWrite'] = async (input) => {
    calls++;
    if (left-- > 0) throw new TransactionCanceled(reasons);
    return database.database.transactWrite(input);
  };
  return { database: { ...database.database, transactWrite }, calls: () => calls };
};

test('retries a conflict with another write at most six times, and then throws a 503', async () => {
  const conflict = [{ code: 'None' }, { code: 'TransactionConflict' }];
  const soon = failing(3, conflict);
  await transact(soon.database, [put('Keys', { id: 'k4' })]);
  expect([soon.calls(), await database.limiters.get('k4')]).toMatchObject([4, { n: 1 }]);
  const never = failing(100, conflict);
  await expect(transact(never.database, [put('Keys', { id: 'k5' })])).rejects.toMatchObject({ status: 503 });
  expect(never.calls()).toBe(7);
});

test('makes no write if there are more than DynamoDB accepts', async () => {
  const writes = Array.from({ length: MAX_WRITES + 1 }, (_, i) => put('Keys', { id: `many-${i}` }));
  await expect(transact(database.database, writes)).rejects.toThrow('101 writes');
  const { Item } = await database.database.get({ TableName: database.tables.Keys as string, Key: { id: 'many-0' } });
  expect(Item).toBeUndefined();
});
