import type { Grant } from '../../shared/credit/credit-store.ts';
import { type CreditDependencies, grantCredit as grantNumbered } from '../../shared/credit/grant-credit.ts';
import type { Database } from '../../shared/database/database.ts';
import { transact } from '../../shared/database/transaction.ts';

/** Grants credit without an entry in the audit log. */
export const grantCredit = (deps: CreditDependencies & { database: Database }, grant: Omit<Grant, 'number'>): Promise<Grant> =>
  grantNumbered(deps, grant, (numbered) => transact(deps.database, deps.credit.toCreate(numbered)));
