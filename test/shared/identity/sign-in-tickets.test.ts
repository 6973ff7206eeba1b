import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSignInTickets, type SignInTickets } from '../../../shared/identity/sign-in-tickets.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

const NOON = Date.UTC(2026, 10, 26, 12);
const SUBJECT = '6c1f7ab1-5a4a-4d0e-9d8b-0b8b1f7c9f10';
const OTHER = '0d0e6d1e-51d1-4b2c-8d0e-9a1d2b3c4d5e';

let database: TestDatabase;
let tickets: SignInTickets;
beforeAll(async () => {
  database = await startTestDatabase();
  tickets = createSignInTickets(database.database, database.tables.Attempts as string);
});
afterAll(() => database.close());

describe('createSignInTickets', () => {
  test('lets one user sign in once with a ticket, also if it is presented many times at once', async () => {
    const ticket = await tickets.issue(SUBJECT, NOON);
    const results = await Promise.all(Array.from({ length: 20 }, () => tickets.redeem(ticket, SUBJECT, NOON + 1_000)));
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await tickets.redeem(ticket, SUBJECT, NOON + 2_000)).toBe(false);
  });

  test('accepts a ticket for 60 seconds, and not later, although its row still exists', async () => {
    const [first, second] = [await tickets.issue(SUBJECT, NOON), await tickets.issue(SUBJECT, NOON)];
    expect(await tickets.redeem(first, SUBJECT, NOON + 59_999)).toBe(true);
    expect(await tickets.redeem(second, SUBJECT, NOON + 60_000)).toBe(false);
    const { Items } = await database.sdk.scan({ TableName: database.tables.Attempts as string });
    expect(Items).toEqual([{ id: expect.stringMatching(/^ticket#/), subject: SUBJECT, expires_at: NOON / 1_000 + 60 }]);
  });

  test('does not accept another user’s ticket, and leaves it for its user', async () => {
    const ticket = await tickets.issue(SUBJECT, NOON);
    expect(await tickets.redeem(ticket, OTHER, NOON)).toBe(false);
    expect(await tickets.redeem(ticket, SUBJECT, NOON)).toBe(true);
  });

  test.each(['', 'never-issued', 'x'.repeat(100_000)])('rejects what is no ticket (%#)', async (ticket) => {
    expect(await tickets.redeem(ticket, SUBJECT, NOON)).toBe(false);
  });

  test('issues tickets that cannot be guessed, and stores only their hashes', async () => {
    const issued = await Promise.all(Array.from({ length: 20 }, () => tickets.issue(SUBJECT, NOON)));
    expect(new Set(issued).size).toBe(20);
    for (const ticket of issued) expect(ticket).toMatch(/^[\w-]{43}$/);
    const stored = JSON.stringify(await database.sdk.scan({ TableName: database.tables.Attempts as string }));
    for (const ticket of issued) expect(stored).not.toContain(ticket);
  });

  test('fails with a 503 if the table cannot be reached, and uses no ticket up', async () => {
    const away = createSignInTickets(database.database, 'no-such-table');
    await expect(away.issue(SUBJECT, NOON)).rejects.toThrow();
    await expect(away.redeem('ticket', SUBJECT, NOON)).rejects.toThrow();
  });
});
