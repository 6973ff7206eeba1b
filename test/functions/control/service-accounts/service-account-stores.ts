import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createRuleStore } from '../../../../shared/federation/rule-store.ts';
import { createSignInEvents } from '../../../../shared/federation/sign-in-events.ts';
import { createServiceAccountStore } from '../../../../shared/service-accounts/service-account-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { ISSUER } from '../../../support/fixtures/stored-users.ts';

/** All that the routes of service accounts need, but the identity provider. */
export const serviceAccountStores = (database: TestDatabase, client: Database = database.database) => {
  const name = String(database.tables.Accounts);
  const accounts = createRecordTable(client, name);
  return {
    ...accountStores(database, client),
    accounts,
    serviceAccounts: createServiceAccountStore(accounts),
    rules: createRuleStore(accounts),
    signInEvents: createSignInEvents(client, name, accounts),
    issuer: ISSUER,
    now: Date.now,
  };
};
