import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createResetRequests } from '../../../functions/sign-in/reset-mails.ts';
import { type ResetDependencies, startReset } from '../../../functions/sign-in/reset-password.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { createLoginAttempts, type LoginAttempts } from '../../../shared/identity/login-attempts.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const SECOND_MS = 1_000;

let database: TestDatabase;
let attempts: LoginAttempts;
beforeAll(async () => {
  database = await startTestDatabase();
  attempts = createLoginAttempts(await database.as('sign-in'), database.tables.Attempts as string);
});
afterAll(() => database.close());

describe('the queue of codes to reset a password', () => {
  // One request a second, for so many seconds.
  const request = async (seconds: number, of: (i: number) => { ipAddress: string; email: string }) => {
    const queued: string[] = [];
    const refused: unknown[] = [];
    const resetRequests = createResetRequests({ send: async ({ body }) => void queued.push(body) });
    const deps = { attempts, resetRequests } as Partial<ResetDependencies> as ResetDependencies;
    for (let i = 0; i < seconds; i++) {
      const { ipAddress, email } = of(i);
      const caller = {
        ipAddress,
        receivedAtMs: NOON + i * SECOND_MS,
        requestId: `req_${i}`,
        serverName: 'control',
        serverPath: AUTH_PATHS.forgot,
      };
      await startReset(deps, caller, email).catch((error: unknown) => refused.push(error));
    }
    return { queued, refused };
  };
  const tooMany = expect.objectContaining({ status: 429, code: 'rate_limit_exceeded' });

  test('gets at most 20 messages of an address in five minutes, for whatever accounts', async () => {
    const { queued, refused } = await request(290, (i) => ({ ipAddress: '192.0.2.1', email: `nobody-${i}@example.com` }));
    expect(queued).toHaveLength(20);
    expect(refused).toEqual(Array(270).fill(tooMany));
  });

  test('gets at most ten of an account in five minutes, from whatever addresses, and five from one', async () => {
    const spread = await request(290, (i) => ({ ipAddress: `198.51.100.${i % 250}`, email: 'ada@example.com' }));
    expect(spread.queued).toHaveLength(10);
    expect(spread.refused).toEqual(Array(280).fill(tooMany));
    expect((await request(20, () => ({ ipAddress: '192.0.2.2', email: 'eve@example.com' }))).queued).toHaveLength(5);
  });
});
