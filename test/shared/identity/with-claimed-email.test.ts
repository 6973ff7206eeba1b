import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { newStoredUser } from '../../../shared/identity/new-user.ts';
import { createUserStore, type UserStore } from '../../../shared/identity/user-store.ts';
import { withClaimedEmail } from '../../../shared/identity/with-claimed-email.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { ISSUER } from '../../support/fixtures/stored-users.ts';

const nowMs = Date.UTC(2026, 10, 21, 12);

let database: TestDatabase;
let users: UserStore;
beforeAll(async () => {
  database = await startTestDatabase();
  users = createUserStore(createRecordTable(database.database, database.tables.Accounts as string));
});
afterAll(() => database.close());

const claiming = <T>(email: string, create: (claim: string) => Promise<T>): Promise<T> => withClaimedEmail(users, { email, nowMs }, create);
const crash = async (): Promise<void> => {
  throw new Error('The creation failed.');
};

describe('withClaimedEmail', () => {
  test('frees the address if the creation fails', async () => {
    await expect(claiming('ada@example.com', crash)).rejects.toThrow('The creation failed.');
    expect(await claiming('ada@example.com', async () => 'created')).toBe('created');
  });

  test('refuses a second request meanwhile, which does not free the address of the first one', async () => {
    await claiming('bob@example.com', async () => {
      for (let tries = 1; tries <= 2; tries++)
        await expect(claiming('bob@example.com', crash)).rejects.toMatchObject({ status: 409, code: 'email_taken' });
    });
  });

  test('leaves the address to a user whose creation was committed before it failed', async () => {
    const email = 'eve@example.com';
    const user = newStoredUser({ issuer: ISSUER, subject: 'eve' }, { email, name: null, role: 'member', organization: 'org_1' }, nowMs);
    const creation = claiming(email, async (claim) => {
      await transact(database.database, users.toCreate(user, claim));
      await crash();
    });
    await expect(creation).rejects.toThrow('The creation failed.');
    await expect(claiming(email, crash)).rejects.toMatchObject({ status: 409 });
    expect(await users.get(user.id)).toMatchObject({ email });
  });
});
