import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OrganizationLimits } from '../../../../functions/control/limits/limits.ts';
import { grantByOperator, limitByOperator, operatorOrigin } from '../../../../infra/tools/admin/accounts.ts';
import { type LedgerDependencies, ledgerRow } from '../../../../infra/tools/doctor/ledger.ts';
import { createCreditStore } from '../../../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createDeploymentStore } from '../../../../shared/deployments/deployment-store.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { rollupStores } from '../../../support/fixtures/rollups.ts';

let database: TestDatabase;
let deps: LedgerDependencies;
beforeAll(async () => {
  database = await startTestDatabase();
  const { Usage, Accounts, Deployments } = database.tables as Record<string, string>;
  deps = {
    ...accountStores(database),
    ...rollupStores(database.database, Usage as string),
    credit: createCreditStore(database.database, Accounts as string),
    gpuEvents: createGpuEventStore(database.database, Usage as string),
    deployments: createDeploymentStore(createRecordTable(database.database, Deployments as string)),
  };
});
afterAll(async () => {
  await database.close();
});

test('every organization with credit adds up, or the row names the one that does not', async () => {
  const origin = operatorOrigin('ada', Date.now());
  const tables = {
    database: database.database,
    keysTable: database.tables.Keys as string,
    accountsTable: database.tables.Accounts as string,
    auditTable: database.tables.Audit as string,
    observabilityTable: database.tables.Observability as string,
  };
  const organizations = [newId('organization'), newId('organization')];
  for (const organization of organizations) {
    await limitByOperator(tables, origin, organization, OrganizationLimits.parse({ prepaid: true }));
    await grantByOperator(tables, origin, organization, { amount: '10', reason: 'prepayment' });
  }
  await limitByOperator(tables, origin, newId('organization'), OrganizationLimits.parse({}));
  expect(await ledgerRow(deps)).toMatchObject({ status: 'ok', found: '2 organizations with credit, each adds up' });
  const [wrong = ''] = organizations;
  await database.limiters.configure(wrong, { avail: 9_000_000_000n });
  expect(await ledgerRow(deps)).toMatchObject({ status: 'failure', found: `1 of 2 organizations don't add up: ${wrong}: 1` });
});
