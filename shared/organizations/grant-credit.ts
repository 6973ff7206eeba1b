import type { LimiterStore } from '../limiters/limiter-store.ts';
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

/**
 * Grants prepaid credit to an organization that has limits: into the ledger first, then, once, into its balance.
 * @throws Error when the organization has no limits yet
 */
export const grantCredit = async (deps: CreditDependencies, grant: Omit<Grant, 'number'>): Promise<Grant> => {
  if (!(await deps.limiters.get(grant.organization)))
    throw new Error(`The organization ${grant.organization} has no limits yet: set them first, with prepaid credit among them.`);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const known = await Array.fromAsync(deps.credit.list(grant.organization));
    const numbered = { ...grant, number: known.length + 1 };
    if (!(await deps.credit.put(numbered))) continue;
    await applyGrants(deps, grant.organization);
    return numbered;
  }
  throw new Error(`More than ${MAX_ATTEMPTS} other grants were made at the same time.`);
};
