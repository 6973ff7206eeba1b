import { TransactionCanceledException as Cancelled } from '@aws-sdk/client-dynamodb';
import { GetCommand, type PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_WRITES, transact, type Write } from '../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../support/database.ts';

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

test('a transaction makes all of its writes, in any tables, or none', async () => {
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

test('throws the error of the first write that was rejected', async () => {
  const write = (name: string): Write => put('Keys', { id: 'k1' }, () => new Error(name), 'attribute_not_exists(id)');
  const other: Write = { ...write('second'), item: { ...put('Keys', { id: 'k3' }).item } };
  await expect(transact(database.database, [other, write('first')])).rejects.toThrow('first');
});

/** A database that cancels this many transactions for these reasons before it executes one. */
const failing = (times: number, reasons: { Code: string }[]) => {
  let left = times;
  let calls = 0;
  const send = async (command: PutCommand): Promise<unknown> => {
    calls++;
    if (left-- > 0) throw Object.assign(new Cancelled({ message: 'cancelled', $metadata: {} }), { CancellationReasons: reasons });
    return database.database.send(command);
  };
  return { database: { send } as unknown as TestDatabase['database'], calls: () => calls };
};

test('retries a conflict with another write up to six times, and then throws a 503', async () => {
  const conflict = [{ Code: 'None' }, { Code: 'TransactionConflict' }];
  const soon = failing(3, conflict);
  await transact(soon.database, [put('Keys', { id: 'k4' })]);
  expect([soon.calls(), await database.limiters.get('k4')]).toMatchObject([4, { n: 1 }]);
  const never = failing(100, conflict);
  await expect(transact(never.database, [put('Keys', { id: 'k5' })])).rejects.toMatchObject({ status: 503 });
  expect(never.calls()).toBe(7);
});

test('rejects more writes than DynamoDB accepts and makes none', async () => {
  const writes = Array.from({ length: MAX_WRITES + 1 }, (_, i) => put('Keys', { id: `many-${i}` }));
  await expect(transact(database.database, writes)).rejects.toThrow('101 writes');
  const { Item } = await database.database.send(new GetCommand({ TableName: database.tables.Keys as string, Key: { id: 'many-0' } }));
  expect(Item).toBeUndefined();
});
