import type { LimiterStore } from '../../../shared/admission/limiter-store.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import { Conflict } from '../../../shared/http/errors.ts';
import type { CreditStore, Grant } from './credit-store.ts';

/** Grants at the same time take the next number each. */
const MAX_ATTEMPTS = 20;

export interface CreditDependencies {
  limiters: LimiterStore;
  credit: CreditStore;
}

/** Adds what the ledger has and the balance has not: a grant whose maker died in between is made good by the next one. */
export const applyGrants = async ({ limiters, credit }: CreditDependencies, organization: string): Promise<void> => {
  const applied = (await limiters.get(organization))?.grants ?? 0;
  for await (const { number, amount_nanos } of credit.list(organization))
    if (number > applied) await limiters.addGrant(organization, number, amount_nanos);
};

/** Grants are of organizations that have limits: their balance is in their limiter. 409. */
export class NoCredit extends Conflict {
  constructor(organization: string) {
    super({
      code: 'no_credit',
      message: `The organization ${organization} has no limits yet, and so no credit: set them first, with prepaid credit among them.`,
    });
  }
}

/**
 * Grants prepaid credit to an organization that has limits: into the ledger first, then, once, into its balance.
 * @param put writes a grant into the ledger; false where its number is taken
 * @throws NoCredit
 */
export const grantCredit = async (deps: CreditDependencies, grant: Omit<Grant, 'number'>, put = deps.credit.put): Promise<Grant> => {
  if (!(await deps.limiters.get(grant.organization))) throw new NoCredit(grant.organization);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const known = await Array.fromAsync(deps.credit.list(grant.organization));
    const numbered = { ...grant, number: known.length + 1 };
    if (!(await put(numbered))) continue;
    await applyGrants(deps, grant.organization);
    return numbered;
  }
  throw new DatabaseUnavailable(new Error(`More than ${MAX_ATTEMPTS} other grants were made at the same time.`));
};
