import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLoginAttempts, type LoginAttempt, type LoginAttempts } from '../../../shared/identity/login-attempts.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const WINDOW_MS = 5 * 60_000;

let database: TestDatabase;
let attempts: LoginAttempts;
beforeAll(async () => {
  database = await startTestDatabase();
  attempts = createLoginAttempts(await database.as('sign-in'), database.tables.Attempts as string);
});
afterAll(async () => {
  await database.close();
});

const isAllowed = (attempt: LoginAttempt, nowMs: number): Promise<boolean> =>
  attempts.count(attempt, nowMs).then(
    () => true,
    () => false,
  );

// One after another.
const allowedOf = async (times: readonly number[], attempt: (i: number) => LoginAttempt): Promise<number[]> => {
  const allowed: number[] = [];
  for (const [i, nowMs] of times.entries()) if (await isAllowed(attempt(i), nowMs)) allowed.push(nowMs);
  return allowed;
};

describe('createLoginAttempts', () => {
  test('lets no more through around a boundary of five minutes than within one', async () => {
    const times = [...Array<number>(20).fill(NOON - 1_000), ...Array<number>(20).fill(NOON + 1_000)];
    expect(await allowedOf(times, () => ({ kind: 'totp', ipAddress: '192.0.2.1', account: 'boundary' }))).toHaveLength(10);
  });

  test('does not count a success', async () => {
    const attempt: LoginAttempt = { kind: 'totp', ipAddress: '192.0.2.5', account: 'right' };
    for (let i = 0; i < 30; i++) {
      const nowMs = NOON + i * 9_000;
      await attempts.count(attempt, nowMs);
      await attempts.forget(attempt, nowMs);
    }
    const allowed = await allowedOf(Array<number>(20).fill(NOON + WINDOW_MS), () => attempt);
    expect(allowed).toHaveLength(10);
  });

  test('gives an address sixty logins, challenges and resets together in five minutes', async () => {
    const kinds = ['login', 'challenge', 'reset'] as const;
    const times = Array.from({ length: 90 }, (_, i) => NOON + i * 1_000);
    const attempt = (i: number): LoginAttempt => ({ kind: kinds[i % 3] as 'login', ipAddress: '192.0.2.6', account: `person-${i}` });
    expect(await allowedOf(times, attempt)).toHaveLength(60);
  });

  test('gives an address ten of them at once, as long as a refused one is held back', async () => {
    const attempt = (i: number): LoginAttempt => ({ kind: 'login', ipAddress: '192.0.2.7', account: `person-${i}` });
    expect(await allowedOf(Array<number>(14).fill(NOON), attempt)).toHaveLength(10);
    expect(await isAllowed(attempt(20), NOON + 799)).toBe(false);
    expect(await isAllowed(attempt(21), NOON + 800)).toBe(true);
  });

  test('counts the addresses of an IPv6 network of a household together', async () => {
    const attempt = (i: number): LoginAttempt => ({
      kind: 'forgot',
      ipAddress: `2001:db8:1:2${i.toString(16)}::${i}`,
      account: `person-${i}`,
    });
    const times = Array<number>(40).fill(NOON);
    expect(await allowedOf(times, (i) => attempt(i % 16))).toHaveLength(20);
    expect(await isAllowed({ ...attempt(1), ipAddress: '2001:db8:1:300::1' }, NOON)).toBe(true);
  });
});

describe('a user whose account strangers have locked', () => {
  // From many addresses.
  const lock = async (kind: 'login' | 'challenge', account: string): Promise<void> => {
    const max = kind === 'login' ? 100 : 30;
    await Promise.all(Array.from({ length: max }, (_, i) => isAllowed({ kind, ipAddress: `198.51.100.${i}`, account }, NOON)));
  };

  test.each(['login', 'challenge'] as const)(
    'is refused a %s from a new address, and not from one where they have logged in',
    async (kind) => {
      const account = `${kind}@example.com`;
      const known = kind === 'login' ? '203.0.113.1' : '203.0.113.2';
      await attempts.know({ kind: 'login', ipAddress: known, account }, NOON - 86_400_000);
      await lock(kind, account);
      expect(await isAllowed({ kind, ipAddress: '203.0.113.3', account }, NOON)).toBe(false);
      const allowed = await allowedOf(Array<number>(20).fill(NOON), () => ({ kind, ipAddress: known, account }));
      expect(allowed).toHaveLength(10);
    },
  );

  test('is refused again when they have not logged in from that address for 30 days', async () => {
    const account = 'long-ago@example.com';
    await attempts.know({ kind: 'login', ipAddress: '203.0.113.4', account }, NOON - 31 * 86_400_000);
    await lock('login', account);
    expect(await isAllowed({ kind: 'login', ipAddress: '203.0.113.4', account }, NOON)).toBe(false);
  });
});
