import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRecordTable, type RecordTable } from '../../../shared/database/record-table.ts';
import { createWorkShares } from '../../../shared/database/work-shares.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const LEASE_MS = 60_000;

let database: TestDatabase;
let lines: { message: string; account?: string }[];
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(JSON.parse(String(text))) > 0);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a place that could not be released', () => {
  const sharesAt = (nowMs: number, more: Partial<RecordTable> = {}) => {
    const table = { ...createRecordTable(database.database, database.tables.Notifications as string), ...more };
    return createWorkShares(table, { record: 'sending', atOnce: 1, leaseMs: LEASE_MS, now: () => nowMs, random: () => 0 });
  };
  const unclaim = () => Promise.reject(new Error('no database'));

  test('changes nothing for the work, is in the log, and is free again after its lease', async () => {
    const organization = newId('organization');
    const work = async (): Promise<void> => undefined;
    expect(await sharesAt(0, { unclaim }).use(organization, work)).toBe(true);
    expect(lines).toMatchObject([{ message: 'place_not_released', account: organization }]);
    expect(await sharesAt(LEASE_MS).use(organization, work)).toBe(false);
    expect(await sharesAt(LEASE_MS + 1).use(organization, work)).toBe(true);
  });

  test('does not hide the error of the work', async () => {
    const work = () => Promise.reject(new Error('the work failed'));
    await expect(sharesAt(0, { unclaim }).use(newId('organization'), work)).rejects.toThrow('the work failed');
  });
});
