import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createActivityStore } from '../../../shared/deployments/activity-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

let emulator: TestDatabase;
beforeAll(async () => {
  emulator = await startTestDatabase();
});
afterAll(() => emulator.close());

test('moves the last event of a deployment only forward, and only for its organization', async () => {
  const store = createActivityStore(emulator.database, emulator.tables.Deployments as string);
  const model = { pool: 'org_one', name: 'llama' };
  expect(await store.lastEventAt(model)).toBeUndefined();
  for (const atMs of [5, 9, 7]) await store.recordLast({ ...model, atMs });
  expect(await store.lastEventAt(model)).toBe(9);
  expect(await store.lastEventAt({ pool: 'org_two', name: 'llama' })).toBeUndefined();
});
