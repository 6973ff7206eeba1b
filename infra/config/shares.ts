// An organization can take a quarter of what a function reserves.
const SHARES_PER_FUNCTION = 4;
// Without a reservation, as many as with the default one.
const UNRESERVED_HELD_REQUESTS = 50;
export const UNRESERVED_CONCURRENCY = 100;
// One limit counts the requests of both hosts. The on-demand host reserves less, and a request calls the tokenizer only
// for a moment.
const ON_DEMAND_SHARE = 1 / 2;
const TOKENIZER_SHARE = 5 / 6;
const MAX_HELD_REQUESTS = 50;

interface SettingsOfShares {
  reservedConcurrency?: Readonly<Record<'inference' | 'ondemand-inference' | 'tokenizer', number>> | null | undefined;
  organizationConcurrency?: number | undefined;
  deployments: { maxHeldRequests?: number | undefined; maxHeldRequestsOfOrganization?: number | undefined };
}

// A quarter, but at least one if there is any.
const shareOf = (whole: number): number => Math.min(whole, Math.max(1, Math.floor(whole / SHARES_PER_FUNCTION)));

const reservedOnDemand = ({ reservedConcurrency }: SettingsOfShares): number | undefined => reservedConcurrency?.['ondemand-inference'];

/** The most requests of an organization in flight at the same time, unless an admin has given it another limit. */
export const organizationConcurrencyOf = ({ organizationConcurrency, reservedConcurrency }: SettingsOfShares): number => {
  if (organizationConcurrency !== undefined) return organizationConcurrency;
  if (!reservedConcurrency) return UNRESERVED_CONCURRENCY;
  const { inference, 'ondemand-inference': onDemand, tokenizer } = reservedConcurrency;
  return Math.max(1, Math.floor(Math.min(inference / SHARES_PER_FUNCTION, onDemand * ON_DEMAND_SHARE, tokenizer * TOKENIZER_SHARE)));
};

/** Why an organization's concurrency is no share of what the functions reserve; undefined if it is. */
export const faultOfConcurrency = (settings: SettingsOfShares): { path: string[]; message: string } | undefined => {
  const { organizationConcurrency: concurrency, reservedConcurrency } = settings;
  if (concurrency === undefined || !reservedConcurrency) return undefined;
  for (const name of ['inference', 'ondemand-inference', 'tokenizer'] as const)
    if (concurrency >= reservedConcurrency[name])
      return {
        path: ['organizationConcurrency'],
        message: `expected less than ${reservedConcurrency[name]}, which reservedConcurrency.${name} reserves for all organizations. Lower it, or reserve more`,
      };
  return undefined;
};

/** The shares of an account without reservations, whose functions all together have so many executions. */
export const sharesOfAccount = (executions: number): { organizationConcurrency: number; maxHeldRequestsOfOrganization: number } => ({
  organizationConcurrency: Math.min(UNRESERVED_CONCURRENCY, shareOf(executions)),
  maxHeldRequestsOfOrganization: Math.min(UNRESERVED_HELD_REQUESTS, shareOf(executions)),
});

/** The most requests that wait for capacity at the same time. */
export interface HeldRequests {
  ofDeployment: number;
  /** On the on-demand host, for all deployments of an organization together. */
  ofOrganization: number;
  /** On the serverless host, where organizations share the waiting list of a deployment that is published. */
  ofCaller: number;
}

/** The most requests that wait, as they are set, or by default a share of what `ondemand-inference` reserves. */
export const heldRequestsOf = (settings: SettingsOfShares): HeldRequests => {
  const { maxHeldRequests, maxHeldRequestsOfOrganization } = settings.deployments;
  const reserved = reservedOnDemand(settings);
  const ofOrganization = maxHeldRequestsOfOrganization ?? (reserved === undefined ? UNRESERVED_HELD_REQUESTS : shareOf(reserved));
  const ofDeployment = maxHeldRequests ?? Math.min(MAX_HELD_REQUESTS, ofOrganization);
  return { ofDeployment, ofOrganization, ofCaller: shareOf(ofDeployment) };
};

/** Why the numbers of held requests don't fit together; undefined if they do. */
export const faultOfHeldRequests = (settings: SettingsOfShares): { path: string[]; message: string } | undefined => {
  const { ofDeployment, ofOrganization } = heldRequestsOf(settings);
  const reserved = reservedOnDemand(settings);
  if (ofDeployment > ofOrganization)
    return {
      path: ['deployments', 'maxHeldRequests'],
      message: `expected at most ${ofOrganization}, because an organization's deployments together hold no more. Lower it, or set maxHeldRequestsOfOrganization to at least ${ofDeployment}`,
    };
  if (reserved !== undefined && ofOrganization > reserved)
    return {
      path: ['deployments', 'maxHeldRequestsOfOrganization'],
      message: `expected at most ${reserved}, which reservedConcurrency.ondemand-inference reserves for all organizations. Lower it, or reserve at least ${ofOrganization}`,
    };
  return undefined;
};
