import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../shared/audit/audit-entry.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { accountStores } from '../../support/fixtures/account-stores.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const entryOf = (action: string, organization: string | null): AuditEntry => ({
  id: newId('event'),
  object: 'audit_entry',
  at: 1_795_262_400_000,
  action,
  actor: { type: 'operator', id: 'ops', email: null, organization: null },
  organization,
  target: { type: 'user', id: 'user_1' },
  reason: null,
  changes: {},
  request_id: null,
  ip_address: null,
});

test.each([null, 'org_1'])('an entry of the log of %p cannot be written over', async (organization) => {
  const { audit } = accountStores(database);
  const first = entryOf('user.deleted', organization);
  await transact(database.database, [audit.toAppend(first)]);
  const second = { ...entryOf('user.updated', organization), id: first.id };
  await expect(transact(database.database, [audit.toAppend(second)])).rejects.toThrow('already exists');
  expect((await audit.list(organization, { limit: 10 })).data).toEqual([first]);
});
