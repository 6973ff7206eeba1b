import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LoginRefused } from '../../../functions/sign-in/errors.ts';
import { type LoginDependencies, logIn } from '../../../functions/sign-in/log-in.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { TooManyAttempts } from '../../../shared/identity/errors.ts';
import { createLoginAttempts } from '../../../shared/identity/login-attempts.ts';
import type { SignIn } from '../../../shared/identity/sign-in.ts';
import type { StoredUser } from '../../../shared/identity/user-store.ts';
import { createIdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
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

// With a fake clock, and an identity provider that takes `tookMs`.
const attempt = async (
  email: string,
  { isCorrect, tookMs, atMs = NOON, right = { tokens } }: { isCorrect: boolean; tookMs: number; atMs?: number; right?: SignIn },
) => {
  let now = atMs;
  const waits: number[] = [];
  const deps: LoginDependencies = {
    ...loginDependencies(database, {
      signIn: async () => {
        now += tookMs;
        return isCorrect ? right : undefined;
      },
    }),
    now: () => now,
    wait: async (ms) => void waits.push(ms),
  };
  const caller = { ipAddress: `10.0.0.${tookMs % 250}`, serverName: 'control', serverPath: '/', requestId: 'req_1', receivedAtMs: atMs };
  const answer = await logIn(deps, caller, { email, password: 'x' }).catch((error: unknown) => error);
  return { answer, waits };
};

const create = (user: StoredUser): Promise<void> => createStored(database, user);

test('a failed login is answered 0.8 s after it arrived, for any cause and duration of the checks', async () => {
  await create(userOf('active'));
  await create(userOf('disabled', { status: 'disabled' }));
  for (const [email, isCorrect, tookMs] of [
    ['active@example.com', false, 120],
    ['nobody@example.com', false, 5],
    ['nobody@example.com', true, 40],
    ['disabled@example.com', true, 300],
  ] as const) {
    const { answer, waits } = await attempt(email, { isCorrect, tookMs });
    expect(answer).toBeInstanceOf(LoginRefused);
    expect(waits).toEqual([800 - tookMs]);
  }
  expect((await attempt('nobody@example.com', { isCorrect: false, tookMs: 2_000 })).waits).toEqual([0]);
});

test('a successful login does not wait and does not count as an attempt', async () => {
  await create(userOf('right'));
  for (let i = 0; i < 25; i++) {
    const { answer, waits } = await attempt('right@example.com', { isCorrect: true, tookMs: 7 });
    expect([answer, waits]).toEqual([expect.objectContaining({ object: 'session', access_token: 'access' }), []]);
  }
});

test.each([
  ['sixty correct passwords in a minute', { tokens: { ...tokens, subject: 'often' } }],
  ['sixty in a minute, also if a code must follow', { challenge: 'totp', session: 's' }],
] as const)('a user can send %s, and the next ones don’t reach the user pool', async (_, right) => {
  const name = 'challenge' in right ? 'coded' : 'often';
  const email = `${name}@example.com`;
  await create(userOf(name));
  const attempts = createLoginAttempts(database.database, database.tables.Attempts as string);
  const caller = { isCorrect: true, tookMs: 7, right };
  for (let i = 0; i < 60; i++) expect((await attempt(email, caller)).answer).not.toBeInstanceOf(TooManyAttempts);
  for (let i = 0; i < 10; i++) expect((await attempt(email, caller)).answer).toBeInstanceOf(TooManyAttempts);
  await expect(attempts.count({ kind: 'login', ipAddress: '10.0.0.7', account: email }, NOON)).rejects.toThrow(TooManyAttempts);
  // From elsewhere as well, and an hour later again.
  expect((await attempt(email, { ...caller, tookMs: 8 })).answer).toBeInstanceOf(TooManyAttempts);
  expect((await attempt(email, { ...caller, atMs: NOON + 3_600_000 })).answer).not.toBeInstanceOf(TooManyAttempts);
});

test('refused logins of a user are one entry of the audit log in an hour, whatever their number', async () => {
  await create(userOf('guessed', { organization: 'org_guessed' }));
  const audit = createAuditStore(createRecordTable(database.database, database.tables.Accounts as string));
  const entries = async () => (await audit.list('org_guessed', { limit: 100 })).data.map(({ action, target }) => [action, target.id]);
  const refuse = (atMs: number) =>
    Array.from({ length: 8 }, (_, i) => attempt('guessed@example.com', { isCorrect: false, tookMs: i, atMs }));
  const refused = ['session.refused', 'user_guessed00000000000'];
  await Promise.all(refuse(NOON + 1));
  await Promise.all(refuse(NOON + 40 * 60_000));
  expect(await entries()).toEqual([refused]);
  await Promise.all(refuse(NOON + 60 * 60_000));
  expect(await entries()).toEqual([refused, refused]);
});

test('ten of a hundred concurrent attempts are allowed, and the others get 429', async () => {
  const attempts = createLoginAttempts(database.database, database.tables.Attempts as string);
  const counts = Array.from({ length: 100 }, () =>
    attempts.count({ kind: 'reset', ipAddress: '10.1.0.1', account: 'one' }, NOON).then(() => true),
  );
  const results = await Promise.allSettled(counts);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  const [rejected] = results.filter((result) => result.status === 'rejected');
  expect(rejected?.reason).toMatchObject({ status: 429, headers: { 'retry-after': '300' } });
});

describe('logIn while an identity provider is enforced', () => {
  const totp = { challenge: 'totp', session: 'session' } as const;
  const enforce = async (organization: string, breakGlass: string): Promise<void> => {
    const providers = createIdentityProviderStore(createRecordTable(database.database, database.tables.Accounts as string));
    const provider = identityProvider({ organization, enforced: true, break_glass: breakGlass });
    await transact(database.database, providers.toCreate(provider));
  };

  test('refuses a right password like a wrong one, with or without a second factor', async () => {
    const user = userOf('federated', { organization: 'org_enforced', subject: tokens.subject });
    await create(user);
    await enforce('org_enforced', 'user_other');
    for (const right of [{ tokens }, totp, { challenge: 'new_password', session: 'session' } as const]) {
      const { answer, waits } = await attempt(user.email, { isCorrect: true, tookMs: 90, right });
      expect(answer).toBeInstanceOf(LoginRefused);
      expect(waits).toEqual([710]);
    }
  });

  test('lets the break-glass owner in with a second factor only', async () => {
    const owner = userOf('emergency', { organization: 'org_glass', role: 'owner', subject: tokens.subject });
    await create(owner);
    await enforce('org_glass', owner.id);
    expect((await attempt(owner.email, { isCorrect: true, tookMs: 91 })).answer).toBeInstanceOf(LoginRefused);
    expect((await attempt(owner.email, { isCorrect: true, tookMs: 91, right: totp })).answer).toEqual({ object: 'challenge', ...totp });
  });

  test('leaves the passwords of other organizations and of the platform alone', async () => {
    for (const [name, organization] of [
      ['neighbour', 'org_neighbour'],
      ['platform', null],
    ] as const) {
      await create(userOf(name, { organization, subject: tokens.subject }));
      expect((await attempt(`${name}@example.com`, { isCorrect: true, tookMs: 92 })).answer).toMatchObject({ object: 'session' });
    }
  });
});
