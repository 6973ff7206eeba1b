import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { sized } from '../../support/sized.ts';
import { liveMany } from './lives.ts';

// The lives of rollout-convergence.test.ts have everything that happens in these.
const RUNS = Number(process.env.RUNS ?? sized(25, 1_000));

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

test(`reaches the owner’s state despite losses, repetitions and crashes, without leftovers (${RUNS})`, async () => {
  expect(await liveMany(database, RUNS, false)).toBeGreaterThanOrEqual(RUNS);
}, 1_800_000);
