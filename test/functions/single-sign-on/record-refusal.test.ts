import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AuditQuery, searchEntries } from '../../../functions/control/audit/search-entries.ts';
import { createRecordRefusal } from '../../../functions/single-sign-on/record-refusal.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { accountStores } from '../../support/fixtures/account-stores.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let emulator: TestDatabase;

beforeAll(async () => {
  emulator = await startTestDatabase();
});
afterAll(() => emulator.close());

test('owners see in the audit log from which address a refused login came', async () => {
  const stores = accountStores(emulator);
  const [organization, provider] = [newId('organization'), newId('identityProvider')];
  const requestContext = { identity: { sourceIp: '192.0.2.44' } } as ApiEvent['requestContext'];
  const request = { ...eventOf('/v1/auth/sso/callback'), requestContext };
  await createRecordRefusal(stores)({ organization, provider, reason: 'no_role' }, request);
  const owner = { role: 'owner', organization } as Parameters<typeof searchEntries>[1];
  const { data } = await searchEntries(stores, owner, AuditQuery.parse({}), { limit: 10 });
  expect(data).toMatchObject([
    { action: 'session.refused', target: { id: provider }, reason: 'no_role', ip_address: '192.0.2.44', actor: { type: 'system' } },
  ]);
});
