import { type BalanceDependencies, balanceOf } from '../../../functions/control/organizations/balance.ts';
import type { OrganizationStore } from '../../../functions/control/organizations/organization-store.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { failure, ok, type Row } from './row.ts';

export interface LedgerDependencies extends BalanceDependencies {
  organizations: Pick<OrganizationStore, 'list'>;
}

const PAGE = 100;
const MAX_ORGANIZATION_PAGES = 1_000;
const MAX_NAMED_ORGANIZATIONS = 5;

/** Checks that the credit of each organization is its grants, less what it spent and holds. */
export const ledgerRow = async (deps: LedgerDependencies): Promise<Row> => {
  const wrong: string[] = [];
  let checked = 0;
  let after: string | undefined;
  for (let page = 0; page < MAX_ORGANIZATION_PAGES; page++) {
    const { data, next } = await deps.organizations.list({ limit: PAGE, ...(after !== undefined && { after }) });
    for (const { id } of data) {
      const grants = await Array.fromAsync(deps.credit.list(id));
      if (grants.length === 0) continue;
      checked++;
      const { drift } = await balanceOf(deps, id);
      // Requests that settle during a read differ only in that read.
      if (drift !== 0n && drift === (await balanceOf(deps, id)).drift) wrong.push(`${id}: ${dollarsOf(drift)}`);
    }
    if (next === null) break;
    after = next;
  }
  if (wrong.length === 0) return ok('ledger', `${checked} organizations with credit, each adds up`);
  const named = wrong.slice(0, MAX_NAMED_ORGANIZATIONS).join(', ');
  const advice =
    'Requests in flight and totals that are two minutes behind look like this: run it again when there is no traffic, then npm run admin -- rebuild.';
  return failure('ledger', `${wrong.length} of ${checked} organizations don't add up: ${named}`, advice);
};
