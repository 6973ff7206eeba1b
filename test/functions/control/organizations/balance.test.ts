import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { balanceOf } from '../../../../functions/control/organizations/balance.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { toTakeCredit } from '../../../../shared/gpu-time/credit-writes.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import { runAdmin } from '../../../infra/tools/admin/run-admin.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, isAdmitted, makeCaller } from '../../../support/fixtures/callers.ts';
import { storeDeployment } from '../../../support/fixtures/deployments.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { type CreditDeps, creditDepsOf, DOLLAR, NOON, setUpIn } from './credit-fixtures.ts';

let database: TestDatabase;
let deps: CreditDeps;
beforeAll(async () => {
  database = await startTestDatabase();
  deps = creditDepsOf(database);
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const gpuTime = (organization: string, cost_nanos: bigint, fields: Partial<GpuEvent> = {}): GpuEvent => ({
  id: newId('gpuTime'),
  deployment_id: newId('deployment'),
  org_id: organization,
  name: 'gone',
  generation: 1,
  instance_type: 'ml.g5.xlarge',
  instances: 1,
  phase: 'serving',
  started_at: NOON,
  ended_at: NOON + 60_000,
  seconds: 60,
  cost_nanos,
  price_version: 'price_1',
  is_prepaid: true,
  ...fields,
});

test('balanceOf counts prepaid GPU time, of deleted deployments too, and credit held for deployments', async () => {
  const { organization, key } = await setUpIn(deps, DOLLAR);
  const meter = { until: NOON, running: [] };
  for (const [name, held_nanos] of [
    ['one', 200n],
    ['other', 100n],
  ] as const)
    await storeDeployment(database, { organization, name, meter: { ...meter, held_nanos } });
  await storeDeployment(database, { organization: newId('organization'), meter: { ...meter, held_nanos: 9_999n } });
  const { is_prepaid: _, ...billed } = gpuTime(organization, 5_000n);
  const paid = [gpuTime(organization, 40n), gpuTime(organization, 2n, { started_at: NOON - 40 * 86_400_000 }), billed];
  await transact(database.database, [
    ...deps.gpuEvents.toAdd(paid),
    ...toTakeCredit(database.tables.Keys as string, [{ id: organization, nanos: 342n }]),
  ]);
  expect(
    isAdmitted(
      await attempt(
        makeCaller(database.limiters, () => NOON),
        key,
        1,
        undefined,
        1_000n,
      ),
    ),
  ).toBe(true);
  const balance = {
    organization,
    grants: 1,
    granted: DOLLAR,
    spent: 42n,
    held: 1_300n,
    available: DOLLAR - 1_342n,
    drift: 0n,
    left: [{ grant: 1, amount: DOLLAR - 42n }],
  };
  expect(await balanceOf(deps, organization)).toEqual(balance);
  const { code, stdout } = await runAdmin(database, ['balance', '--org', organization]);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    { spent: '0.000000042', held: '0.0000013', drift: '0', left: [{ grant: 1, amount: '0.999999958' }] },
  ]);
});
