import { expect, jest, test } from '@jest/globals';
import { warmUp } from '../../../functions/inference/warm-up.ts';
import type { Database } from '../../../shared/database/database.ts';

const databaseWith = (get: Database['get']): Database => ({ get }) as Database;

test('reads one key that does not exist, which opens the connection', async () => {
  const get = jest.fn<Database['get']>(async () => ({}));
  await warmUp(databaseWith(get), 'keys');
  expect(get.mock.calls).toEqual([[{ TableName: 'keys', Key: { id: 'warm-up' } }]]);
});

test('lets the function start although the database fails, or can not be called yet', async () => {
  const failing = databaseWith(async () => {
    throw new Error('The database is down.');
  });
  await expect(warmUp(failing, 'keys')).resolves.toBeUndefined();
  await expect(warmUp(undefined, 'keys')).resolves.toBeUndefined();
});
