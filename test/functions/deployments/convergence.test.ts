import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { sized } from '../../support/sized.ts';
import { liveMany } from './lives.ts';

const RUNS = Number(process.env.RUNS ?? sized(100, 500));

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

test(`a deployment comes to what its owner wants, whatever is lost, repeated or crashes: nothing is made twice, nothing is left (${RUNS} lives)`, async () => {
  expect(await liveMany(database, RUNS, false)).toBeGreaterThanOrEqual(RUNS);
}, 600_000);
