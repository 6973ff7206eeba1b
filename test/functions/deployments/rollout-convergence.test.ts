import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { sized } from '../../support/sized.ts';
import { liveMany } from './lives.ts';

const RUNS = Number(process.env.RUNS ?? sized(60, 1_000));

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

test(`reaches the owner’s state with rollouts, despite faults and without leftovers (${RUNS} lives)`, async () => {
  expect(await liveMany(database, RUNS, true)).toBeGreaterThanOrEqual(RUNS);
}, 1_800_000);
