import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endPresented, useSession } from '../../../../functions/control/sessions/refresh-session.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import type { Caller } from '../../../../shared/identity/request-origin.ts';
import { createSessionStore, sessionOf } from '../../../../shared/identity/session-store.ts';
import { userIdOf } from '../../../../shared/identity/user.ts';
import { HOUR_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { createStored, loginDependencies, NOON, tokens, userOf } from '../../sign-in/login-fixtures.ts';

const ISSUER = 'https://issuer.example.com';
const HOUR = HOUR_MS / SECOND_MS;
const id = (letter: string): string => `ses_${letter.repeat(18)}`;
const callerAt = (receivedAtMs: number): Caller => ({
  ipAddress: '192.0.2.1',
  serverName: 'control',
  serverPath: '/v1/auth/browser/refresh',
  requestId: 'req_1',
  receivedAtMs,
});

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

// A user with two sessions of browsers: one of 30 days, and one of an hour that began a minute later.
const withTwoSessions = async (name: string) => {
  const userId = userIdOf(ISSUER, name);
  await createStored(database, userOf(name, { id: userId, subject: name }));
  const sessions = createSessionStore(createRecordTable(database.database, database.tables.Accounts as string));
  const begin = (letter: string, atMs: number, seconds: number) =>
    sessions.begin(
      userId,
      sessionOf(id(letter), callerAt(atMs), {
        client: 'browser',
        proof: 'password',
        hasSecondFactor: false,
        authenticatedAt: atMs / SECOND_MS,
        seconds,
      }),
    );
  await begin('a', NOON, 30 * 24 * HOUR);
  await begin('b', NOON + 60_000, HOUR);
  return { userId, sessions, begin };
};

// Refreshes with a cookie that names a session, and the refresh token of a login, whose tokens have an id.
const refresh = (name: string, previousId: string, login: { sessionId: string; authenticatedAtMs: number }, atMs: number) =>
  useSession(
    dependenciesAt(atMs),
    callerAt(atMs),
    { ...tokens, subject: name, sessionId: login.sessionId, authenticatedAt: login.authenticatedAtMs / SECOND_MS },
    { previousId },
  );

const dependenciesAt = (atMs: number) => ({
  ...loginDependencies(database, {}),
  issuer: ISSUER,
  now: () => atMs,
  wait: async () => undefined,
});

describe('a cookie with the id of one session and the refresh token of another', () => {
  test('does not continue a session that has ended, if its tokens get another id', async () => {
    const { userId, sessions } = await withTwoSessions('ended');
    await sessions.end(userId, id('b'), NOON / SECOND_MS + 120);
    const login = { sessionId: id('c'), authenticatedAtMs: NOON + 60_000 };
    expect(await refresh('ended', id('a'), login, NOON + 180_000)).toBeUndefined();
    expect(await refresh('ended', id('b'), login, NOON + 180_000)).toBeUndefined();
  });

  test('does not continue a session that is over and has no row any more', async () => {
    const { begin } = await withTwoSessions('over');
    const laterMs = NOON + 3 * HOUR_MS;
    await begin('d', laterMs, HOUR);
    expect(await refresh('over', id('a'), { sessionId: id('b'), authenticatedAtMs: NOON + 60_000 }, laterMs)).toBeUndefined();
  });

  test('leaves the session whose id it names as it is', async () => {
    const { userId, sessions } = await withTwoSessions('untouched');
    const laterMs = NOON + 20 * 60_000;
    await refresh('untouched', id('a'), { sessionId: id('c'), authenticatedAtMs: NOON + 60_000 }, NOON + 180_000);
    expect(await sessions.get(userId, id('a'), laterMs / SECOND_MS)).not.toHaveProperty('renamed_at');
    const own = { sessionId: id('e'), authenticatedAtMs: NOON };
    expect(await refresh('untouched', id('a'), own, laterMs)).toMatchObject({ id: id('e'), ends_at: NOON / SECOND_MS + 30 * 24 * HOUR });
  });

  test('ends only the session of its refresh token at a logout, and makes no row for an id that nobody has', async () => {
    const { userId, sessions } = await withTwoSessions('logout');
    const [laterMs, now] = [NOON + 180_000, NOON / SECOND_MS + 180];
    const access = { ...tokens, subject: 'logout', sessionId: id('b'), authenticatedAt: NOON / SECOND_MS + 60 };
    await endPresented(dependenciesAt(laterMs), callerAt(laterMs), id('a'), access);
    await endPresented(dependenciesAt(laterMs), callerAt(laterMs), id('z'), access);
    expect((await sessions.list(userId, now)).map((session) => session.id)).toEqual([id('a')]);
    const accounts = createRecordTable(database.database, database.tables.Accounts as string);
    expect(await accounts.get({ account: userId, record: `session#${id('z')}` })).toBeUndefined();
  });

  test('ends the earlier id of its session at a logout', async () => {
    const { userId, sessions } = await withTwoSessions('earlier');
    const [laterMs, now] = [NOON + 180_000, NOON / SECOND_MS + 180];
    const access = { ...tokens, subject: 'earlier', sessionId: id('c'), authenticatedAt: NOON / SECOND_MS };
    await endPresented(dependenciesAt(laterMs), callerAt(laterMs), id('a'), access);
    for (const letter of ['a', 'c']) expect(await sessions.get(userId, id(letter), now)).toBeUndefined();
    expect(await sessions.get(userId, id('b'), now)).toBeDefined();
  });
});
