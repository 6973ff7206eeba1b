import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LoginRefused } from '../../../functions/sign-in/errors.ts';
import { checkAnswer, type LoginClient } from '../../../functions/sign-in/log-in.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { browserLifetime } from '../../../shared/identity/browser-session.ts';
import { createSessionStore } from '../../../shared/identity/session-store.ts';
import type { SignIn } from '../../../shared/identity/sign-in.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import { createIdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { createSsoLogins, type FinishedSsoLogin } from '../../../shared/single-sign-on/sso-logins.ts';
import { HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { identityProvider } from '../../shared/single-sign-on/identity-providers.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { createStored, loginDependencies, NOON, tokens, userOf } from './login-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const accounts = () => createRecordTable(database.database, database.tables.Accounts as string);
const ssoLogins = () => createSsoLogins(database.database, database.tables.Attempts as string);
const SESSION_ID = `ses_${'s'.repeat(18)}`;

interface Fields {
  provider?: Partial<IdentityProvider>;
  login?: Partial<FinishedSsoLogin>;
  isBreakGlass?: true;
}

let created = 0;
// A user of an organization with a connection, who has answered its identity provider and must send a code.
const challenged = async (fields: Fields = {}) => {
  created += 1;
  const organization = `org_challenged${created}`;
  const user = userOf(`challenged${created}x`, { organization });
  const provider = identityProvider({ organization, ...fields.provider, ...(fields.isBreakGlass && { break_glass: user.id }) });
  await createStored(database, user);
  await transact(database.database, createIdentityProviderStore(accounts()).toCreate(provider));
  const session = `session ${created}`;
  const login = {
    user: user.id,
    organization,
    provider: provider.id,
    hasSecondFactor: false,
    endsAtMs: NOON + 2 * HOUR_MS,
    returnTo: null,
  };
  await ssoLogins().keepChallenge(session, { ...login, ...fields.login }, NOON);
  return { user, provider, session };
};

const answer = async (
  { user, session }: Pick<Awaited<ReturnType<typeof challenged>>, 'user' | 'session'>,
  { login = { client: 'api' }, reply }: { login?: LoginClient; reply?: SignIn } = {},
) => {
  const accepted = reply ?? { tokens: { ...tokens, subject: user.subject, sessionId: SESSION_ID } };
  const deps = { ...loginDependencies(database, { answerChallenge: async () => accepted }), now: () => NOON, wait: async () => undefined };
  const caller = { ipAddress: `10.2.0.${created}`, serverName: 'control', serverPath: '/', requestId: 'req_1', receivedAtMs: NOON };
  const result = await checkAnswer(deps, caller, { email: user.email, session, code: '123456' }, login).catch((error: unknown) => error);
  const row = await createSessionStore(accounts()).get(user.id, SESSION_ID, NOON / 1_000);
  return { result, row };
};

describe('the answer to a challenge of a single sign-on', () => {
  test('begins a session with the proof and the end of its connection', async () => {
    const login = await challenged();
    const { result, row } = await answer(login);
    expect(result).toMatchObject({ tokens: { accessToken: 'access' } });
    expect(row).toMatchObject({
      proof: `sso:${login.provider.id}`,
      client: 'api',
      second_factor: true,
      ends_at: NOON / 1_000 + 7_200,
      idle_seconds: null,
    });
  });

  test.each([
    ['earlier', false, 12 * HOUR_MS - MINUTE_MS, 12 * 3_600 - 60, 1_800],
    ['later', false, 13 * HOUR_MS, 12 * 3_600, 1_800],
    ['earlier than after 30 days', true, HOUR_MS, 3_600, null],
  ])('ends a browser session with the connection, if that is %s', async (_title, staysSignedIn, lastsMs, seconds, idleSeconds) => {
    const login = await challenged({ login: { endsAtMs: NOON + lastsMs } });
    const { row } = await answer(login, { login: { client: 'browser', lifetime: browserLifetime(staysSignedIn) } });
    expect(row).toMatchObject({ client: 'browser', ends_at: NOON / 1_000 + seconds, idle_seconds: idleSeconds });
  });

  test('is accepted while passwords are refused', async () => {
    const login = await challenged({ provider: { enforced: true, break_glass: 'user_other' } });
    expect((await answer(login)).result).toMatchObject({ tokens: {} });
  });

  test.each<[string, Fields]>([
    ['the connection is disabled', { provider: { status: 'disabled' } }],
    ['the connection is gone', { login: { provider: 'idp_gone' } }],
    ['another user signed in', { login: { user: 'user_other' } }],
    ['the user is of another organization now', { login: { organization: 'org_other' } }],
  ])('is refused if %s', async (_title, fields) => {
    const { result, row } = await answer(await challenged(fields));
    expect([result, row]).toEqual([expect.any(LoginRefused), undefined]);
  });

  test('is refused if another challenge follows, because its answer would not be one of this login', async () => {
    const { result } = await answer(await challenged(), { reply: { challenge: 'new_password', session: 'next' } });
    expect(result).toBeInstanceOf(LoginRefused);
  });
});

describe('the answer to a challenge of a password', () => {
  test('begins a session with the proof of a password', async () => {
    const { user } = await challenged();
    const { row } = await answer({ user, session: 'of a password' });
    expect(row).toMatchObject({ proof: 'password', ends_at: NOON / 1_000 + 30 * 86_400 });
  });

  test('is refused if the identity provider was enforced meanwhile, except from the break-glass owner', async () => {
    const { user } = await challenged({ provider: { enforced: true, break_glass: 'user_other' } });
    expect((await answer({ user, session: 'of a password' })).result).toBeInstanceOf(LoginRefused);
    const { user: owner } = await challenged({ provider: { enforced: true }, isBreakGlass: true });
    expect((await answer({ user: owner, session: 'of a password' })).result).toMatchObject({ tokens: {} });
  });
});
