import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../shared/database/database.ts';
import {
  createSsoLogins,
  type FinishedSsoLogin,
  SSO_CODE_MS,
  SSO_LOGIN_MS,
  type SsoLogin,
} from '../../../shared/single-sign-on/sso-logins.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const LOGIN: SsoLogin = { kind: 'login', domain: 'example.com', codeChallenge: 'c'.repeat(43), redirectUri: null, returnTo: null };
const SENT = { login: LOGIN, organization: 'org_1', provider: 'idp_1', browser: 'b'.repeat(43) };
const FINISHED: FinishedSsoLogin = {
  user: 'user_1',
  organization: 'org_1',
  provider: 'idp_1',
  hasSecondFactor: true,
  endsAtMs: NOON,
  returnTo: null,
};

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const logins = () => createSsoLogins(database.database, database.tables.Attempts as string);
const randomText = (): string => crypto.randomUUID();

describe('a login of single sign-on', () => {
  test('stays for ten minutes, so that its page can be loaded again', async () => {
    const { login, expiresAtMs } = await logins().begin(LOGIN, NOON);
    expect(expiresAtMs).toBe(NOON + SSO_LOGIN_MS);
    for (const atMs of [NOON, expiresAtMs - 1_000]) expect(await logins().find(login, atMs)).toEqual(LOGIN);
    expect(await logins().find(login, expiresAtMs)).toBeUndefined();
    expect(await logins().find(randomText(), NOON)).toBeUndefined();
  });

  test('is taken once, by the browser that began it, and before it expires', async () => {
    const state = randomText();
    await logins().send(state, SENT, NOON);
    expect(await logins().takeSent(state, 'another', NOON)).toBeUndefined();
    expect(await logins().takeSent(state, SENT.browser, NOON + SSO_LOGIN_MS)).toBeUndefined();
    const taken = await Promise.all(Array.from({ length: 5 }, () => logins().takeSent(state, SENT.browser, NOON + 1_000)));
    expect(taken.filter((each) => each !== undefined)).toEqual([SENT]);
    expect(await logins().findSent(state, NOON)).toBeUndefined();
  });
});

describe('the login of a challenge', () => {
  test('stays longer than the challenge, whose code can be wrong, and is found by its session only', async () => {
    const session = randomText();
    await logins().keepChallenge(session, FINISHED, NOON);
    for (const atMs of [NOON, NOON + 4 * MINUTE_MS, NOON + 4 * MINUTE_MS])
      expect(await logins().findChallenge(session, atMs)).toEqual(FINISHED);
    expect(await logins().findChallenge(session, NOON + 10 * MINUTE_MS)).toBeUndefined();
    expect(await logins().findChallenge(randomText(), NOON)).toBeUndefined();
  });
});

describe('the code of a finished login', () => {
  test('is worth one login, for a minute, to the holder of its verifier', async () => {
    const code = await logins().finish(FINISHED, 'challenge', NOON);
    expect(await logins().takeFinished(code, 'of another verifier', NOON)).toBeUndefined();
    expect(await logins().takeFinished(code, 'challenge', NOON + SSO_CODE_MS)).toBeUndefined();
    const taken = await Promise.all(Array.from({ length: 5 }, () => logins().takeFinished(code, 'challenge', NOON)));
    expect(taken.filter((each) => each !== undefined)).toEqual([expect.objectContaining(FINISHED)]);
  });

  test('is not what the table stores', async () => {
    const stored: string[] = [];
    const put: Database['put'] = async (input) => {
      stored.push(JSON.stringify(input));
      return database.database.put(input);
    };
    const watched = createSsoLogins({ ...database.database, put }, database.tables.Attempts as string);
    const code = await watched.finish(FINISHED, 'challenge', NOON);
    const { login } = await watched.begin(LOGIN, NOON);
    const state = randomText();
    await watched.send(state, SENT, NOON);
    expect(stored).toHaveLength(3);
    for (const secret of [code, login, state]) expect(stored.join()).not.toContain(secret);
  });
});
