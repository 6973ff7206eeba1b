import { createCreditStore } from '../../../../shared/credit/credit-store.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { createRollupStore } from '../../../../shared/usage/rollup-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { makeKey } from '../../../support/fixtures/callers.ts';
import { deploymentsOf } from '../../../support/fixtures/deployments.ts';
import { grantCredit } from '../../../support/fixtures/grant-credit.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sweepNow } from '../../../support/fixtures/sweep-now.ts';

export const DOLLAR = 1_000_000_000n;
export const NOON = Date.UTC(2026, 10, 21, 12, 0, 1);

/** The dependencies of grants and balances. */
export const creditDepsOf = (database: TestDatabase) => ({
  database: database.database,
  limiters: database.limiters,
  credit: createCreditStore(database.database, database.tables.Accounts as string),
  rollups: createRollupStore(database.database, database.tables.Usage as string),
  gpuEvents: createGpuEventStore(database.database, database.tables.Usage as string),
  deployments: deploymentsOf(database),
});
export type CreditDeps = ReturnType<typeof creditDepsOf>;

export const grantOf = (organization: string, amount_nanos: bigint) => ({
  organization,
  amount_nanos,
  actor: 'finance@example.com',
  reason: 'invoice 7',
  granted_at: NOON,
});

/** A prepaid organization and one of its keys. */
export const setUpIn = async (deps: CreditDeps, nanos: bigint, limits: { concurrency?: number } = {}) => {
  const organization = newId('organization');
  const key = await makeKey(deps.limiters, { org: organization });
  await limitOrganization(deps.limiters, organization, { isPrepaid: true, ...limits });
  if (nanos > 0n) await grantCredit(deps, grantOf(organization, nanos));
  return { organization, key };
};

export const sweepAt = async (database: TestDatabase, nowMs: number): Promise<void> => {
  const options = { limiters: database.limiters, usage: database.usage, maxInFlightMs: 11 * MINUTE_MS };
  await sweepNow({ ...options, now: () => nowMs, hasTime: () => true, database: database.database });
};
