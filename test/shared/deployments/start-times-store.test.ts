import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createStartTimesStore, MAX_START_TIMES } from '../../../shared/deployments/start-times-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

let emulator: TestDatabase;
beforeAll(async () => {
  emulator = await startTestDatabase();
});
afterAll(() => emulator.close());

const open = () => createStartTimesStore(emulator.database, createRecordTable(emulator.database, emulator.tables.Deployments as string));

test('keeps the newest wakes of each instance type, oldest first', async () => {
  const store = open();
  expect(await store.secondsOf('ml.g5.xlarge')).toEqual([]);
  for (let seconds = 1; seconds <= MAX_START_TIMES + 2; seconds++) await store.record('ml.g5.xlarge', seconds);
  await store.record('ml.p5.48xlarge', 900.5);
  expect(await store.secondsOf('ml.g5.xlarge')).toEqual(Array.from({ length: MAX_START_TIMES }, (_, i) => i + 3));
  expect(await store.secondsOf('ml.p5.48xlarge')).toEqual([900.5]);
});

test('keeps the wakes that several deployments record at the same moment', async () => {
  await Promise.all([1, 2, 3].map((seconds) => open().record('ml.g6.xlarge', seconds)));
  expect((await open().secondsOf('ml.g6.xlarge')).sort()).toEqual([1, 2, 3]);
});
