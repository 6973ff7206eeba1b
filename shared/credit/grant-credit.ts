import type { LimiterConfigurationStore } from '../admission/stores/limiter-configuration-store.ts';
import { DatabaseUnavailable } from '../database/outage.ts';
import { Conflict } from '../http/errors.ts';
import { type CreditStore, type Grant, NumberTaken } from './credit-store.ts';

// Concurrent grants compete for the same number.
const MAX_NUMBER_ATTEMPTS = 20;

export interface LedgerDependencies {
  limiters: Pick<LimiterConfigurationStore, 'get' | 'addGrant'>;
  credit: CreditStore;
}

/**
 * Adds the ledger's grants that are missing in the balance. So the next grant repairs a balance that a crash left
 * behind.
 */
export const applyGrants = async ({ limiters, credit }: LedgerDependencies, organization: string): Promise<void> => {
  const applied = (await limiters.get(organization))?.grants ?? 0;
  for await (const { number, amount_nanos } of credit.list(organization))
    if (number > applied) await limiters.addGrant(organization, number, amount_nanos);
};

/** The balance is stored in the organization's limiter, so only an organization that has one can have credit: 409. */
export class NoCredit extends Conflict {
  constructor(organization: string) {
    super({
      code: 'no_credit',
      message: `The limits of the organization ${organization} have never been set, so it can't have credit. Set them with prepaid: true first.`,
    });
  }
}

/**
 * Grants prepaid credit to an organization that has limits: first in the ledger under the next number, then once in
 * its balance.
 * @param write adds the grant to the ledger; throws NumberTaken if another grant has its number
 * @throws NoCredit
 */
export const grantCredit = async (
  deps: LedgerDependencies,
  grant: Omit<Grant, 'number'>,
  write: (numbered: Grant) => Promise<void>,
): Promise<Grant> => {
  if (!(await deps.limiters.get(grant.organization))) throw new NoCredit(grant.organization);
  for (let attempt = 0; attempt < MAX_NUMBER_ATTEMPTS; attempt++) {
    const known = await Array.fromAsync(deps.credit.list(grant.organization));
    const numbered = { ...grant, number: known.length + 1 };
    try {
      await write(numbered);
    } catch (error) {
      if (error instanceof NumberTaken) continue;
      throw error;
    }
    await applyGrants(deps, grant.organization);
    return numbered;
  }
  throw new DatabaseUnavailable(new Error(`More than ${MAX_NUMBER_ATTEMPTS} other grants were made at the same time.`));
};
