import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuditStore } from '../../../../functions/control/audit/audit-store.ts';
import { createAttemptStore } from '../../../../functions/control/identity/attempt-store.ts';
import type { UserPool } from '../../../../functions/control/identity/user-pool.ts';
import { LoginRefused } from '../../../../functions/control/sessions/errors.ts';
import { logIn, type SessionDependencies } from '../../../../functions/control/sessions/log-in.ts';
import { createUserStore, type StoredUser } from '../../../../functions/control/users/user-store.ts';
import { createAccountTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/database.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const userOf = (name: string, fields: Partial<StoredUser> = {}): StoredUser => ({
  id: `user_${name.padEnd(18, '0')}`,
  object: 'user',
  email: `${name}@example.com`,
  name: null,
  role: 'member',
  organization: 'org_1',
  status: 'active',
  last_login_at: null,
  created_at: 1,
  updated_at: 1,
  version: 1,
  subject: name,
  tokens_valid_from: 0,
  ...fields,
});

const tokens = { subject: 'right', accessToken: 'access', refreshToken: 'refresh', expiresInSeconds: 3_600 };

/** A login that takes the identity provider this long, on a clock of its own; what it waited for. */
const attempt = async (email: string, { isRight, tookMs }: { isRight: boolean; tookMs: number }) => {
  const accounts = createAccountTable(database.database, database.tables.Accounts as string);
  let now = NOON;
  const waits: number[] = [];
  const deps: SessionDependencies = {
    database: database.database,
    audit: createAuditStore(accounts),
    users: createUserStore(accounts),
    attempts: createAttemptStore(database.database, database.tables.Attempts as string),
    userPool: {
      signIn: async () => {
        now += tookMs;
        return isRight ? { tokens } : undefined;
      },
    } as unknown as UserPool,
    now: () => now,
    wait: async (ms) => void waits.push(ms),
  };
  const caller = { ipAddress: `10.0.0.${tookMs % 250}`, serverName: 'control', serverPath: '/', requestId: 'req_1', receivedAtMs: NOON };
  const answer = await logIn(deps, caller, { email, password: 'x' }).catch((error: unknown) => error);
  return { answer, waits };
};

const create = async (user: StoredUser): Promise<void> => {
  const users = createUserStore(createAccountTable(database.database, database.tables.Accounts as string));
  await users.claimEmail(user.email, user.id, NOON);
  await transact(database.database, users.toCreate(user, user.id));
};

test('every refused login is told at the same time after it came in, whatever was wrong and however long that took to find', async () => {
  await create(userOf('active'));
  await create(userOf('disabled', { status: 'disabled' }));
  for (const [email, isRight, tookMs] of [
    ['active@example.com', false, 120],
    ['nobody@example.com', false, 5],
    ['nobody@example.com', true, 40],
    ['disabled@example.com', true, 300],
  ] as const) {
    const { answer, waits } = await attempt(email, { isRight, tookMs });
    expect(answer).toBeInstanceOf(LoginRefused);
    expect(waits).toEqual([800 - tookMs]);
  }
  expect((await attempt('nobody@example.com', { isRight: false, tookMs: 2_000 })).waits).toEqual([0]);
});

test('a login that is right does not wait, and counts as no attempt', async () => {
  await create(userOf('right'));
  for (let i = 0; i < 25; i++) {
    const { answer, waits } = await attempt('right@example.com', { isRight: true, tookMs: 7 });
    expect([answer, waits]).toEqual([expect.objectContaining({ object: 'session', access_token: 'access' }), []]);
  }
});

test('of a hundred tries at the same time ten are made', async () => {
  const attempts = createAttemptStore(database.database, database.tables.Attempts as string);
  const tries = Array.from({ length: 100 }, () =>
    attempts.count({ kind: 'reset', ipAddress: '10.1.0.1', account: 'one' }, NOON).then(() => true),
  );
  const made = await Promise.allSettled(tries);
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  const [refused] = made.filter((result) => result.status === 'rejected');
  expect(refused?.reason).toMatchObject({ status: 429, headers: { 'retry-after': '300' } });
});
