import { type Config, ReservedConcurrency } from '../../config/config.ts';
import { sharesOfAccount } from '../../config/shares.ts';
import type { AccountConcurrency } from './account-concurrency.ts';

/** A mistake of the deployer or a lack of room, shown without a stack trace. */
export class CannotDeploy extends Error {}

/** The environments that a deployment reserves, and a note about them. */
export interface Reservation {
  reservedConcurrency: ReservedConcurrency | null;
  notice: string;
}

const ADVICE = 'Request a higher quota for "Concurrent executions" of Lambda in Service Quotas';

/**
 * Decides what a deployment reserves: what the deployer has set, else the defaults if the account has room for them,
 * else nothing.
 * @throws CannotDeploy if there is no room for what the deployer has set
 */
export const decideReservation = (setting: Config['reservedConcurrency'], { limit, available }: AccountConcurrency): Reservation => {
  const wanted = setting ?? ReservedConcurrency.parse({});
  const total = Object.values(wanted).reduce((sum, count) => sum + count, 0);
  if (total <= available)
    return { reservedConcurrency: wanted, notice: `Reserving ${total} of the account's ${limit} concurrent executions.` };
  const reason = `The account has ${limit} concurrent executions and can reserve ${available} of them for Sluice, but ${total} are`;
  if (setting) throw new CannotDeploy(`${reason} set in 'reservedConcurrency'. Lower them or set it to null. ${ADVICE} to keep them.`);
  return {
    reservedConcurrency: null,
    notice: `${reason} needed. Nothing is reserved, so load on one function can take capacity from the others, the sweep and the control plane included. ${ADVICE}, and deploy again.`,
  };
};

type SharesOfConfig = Pick<Config, 'organizationConcurrency'> &
  Pick<Config['deployments'], 'maxHeldRequests' | 'maxHeldRequestsOfOrganization'>;

/**
 * The shares of an organization in an account where nothing is reserved, unless the deployer has set them. @param
 * limit the account's executions
 */
export const decideShares = (
  limit: number,
  { organizationConcurrency, maxHeldRequests, maxHeldRequestsOfOrganization }: SharesOfConfig,
) => {
  const shares = sharesOfAccount(limit);
  const setsHeld = maxHeldRequests !== undefined || maxHeldRequestsOfOrganization !== undefined;
  return {
    ...(organizationConcurrency === undefined && { organizationConcurrency: shares.organizationConcurrency }),
    ...(!setsHeld && { deployments: { maxHeldRequestsOfOrganization: shares.maxHeldRequestsOfOrganization } }),
  };
};
