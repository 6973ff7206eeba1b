import { describe, expect, test } from '@jest/globals';
import { createTableWrites } from '../../../../infra/local/dynamodb/table-writes.ts';

const TARGET = 'DynamoDB_20120810.';
const body = (value: object): Buffer => Buffer.from(JSON.stringify(value));

describe('the writes to tables', () => {
  test.each([
    ['PutItem', { TableName: 'things' }],
    ['UpdateItem', { TableName: 'things' }],
    ['DeleteItem', { TableName: 'things' }],
    ['BatchWriteItem', { RequestItems: { others: [], things: [] } }],
    ['TransactWriteItems', { TransactItems: [{ Update: { TableName: 'others' } }, { Put: { TableName: 'things' } }] }],
  ])('are known of %s, also from before the wait', async (operation, call) => {
    const writes = createTableWrites();
    const table = writes.watch('things');
    writes.note(TARGET + operation, body(call));
    expect(await table.written(60_000)).toBe(true);
    const waiting = table.written(60_000);
    writes.note(TARGET + operation, body(call));
    expect(await waiting).toBe(true);
  });

  test.each([
    ['PutItem', { TableName: 'things-of-others' }],
    ['Query', { TableName: 'things' }],
    ['TransactGetItems', { TransactItems: [{ Get: { TableName: 'things' } }] }],
  ])('are not reads or writes to other tables: %s %j', async (operation, call) => {
    const writes = createTableWrites();
    const table = writes.watch('things');
    writes.note(TARGET + operation, body(call));
    expect(await table.written(1)).toBe(false);
  });
});
