import { entriesOf, type LimiterItem } from '../admission/item/limiter-item.ts';
import type { DeploymentStore } from '../deployments/deployment-store.ts';
import { requestTimeMs } from '../ids/request-id.ts';

const PAGE = 100;
const MAX_DEPLOYMENT_PAGES = 100;

/** Sums the nano-dollars that are held for an organization's deployments. Deleted ones hold nothing. */
export const heldForDeployments = async (deployments: Pick<DeploymentStore, 'list'>, organization: string): Promise<bigint> => {
  let held = 0n;
  let after: string | undefined;
  for (let page = 0; page < MAX_DEPLOYMENT_PAGES; page++) {
    const { deployments: found, hasMore } = await deployments.list(organization, { limit: PAGE, ...(after !== undefined && { after }) });
    for (const { meter } of found) held += meter?.held_nanos ?? 0n;
    after = found.at(-1)?.name;
    if (!hasMore || after === undefined) return held;
  }
  throw new Error(`${organization} has more than ${MAX_DEPLOYMENT_PAGES * PAGE} deployments.`);
};

/**
 * Sums the nano-dollars that are held for requests in flight.
 * @param shards all limiter items of an organization
 * @param arrivedBeforeMs only for requests that arrived before it; default: all
 */
export const heldForRequests = (shards: readonly LimiterItem[], arrivedBeforeMs = Number.POSITIVE_INFINITY): bigint =>
  shards
    .flatMap(entriesOf)
    .filter(([requestId, { isFromCredit }]) => isFromCredit && requestTimeMs(requestId) < arrivedBeforeMs)
    .reduce((sum, [, { holdNanos }]) => sum + holdNanos, 0n);
