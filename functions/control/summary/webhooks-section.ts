import { DAY_MS } from '../../../shared/time/units.ts';
import type { OrganizationReads } from './summary-reads.ts';
import type { WebhooksSection } from './summary-resource.ts';

const MAX_FAILED = 100;

/** Counts the deliveries that were given up in the last day, and the webhooks that get none. */
export const webhooksSection = async ({ deps, actor, organization }: OrganizationReads): Promise<WebhooksSection> => {
  const [webhooks, failed] = await Promise.all([
    deps.webhooks.list(organization),
    deps.deliveries.countGivenUp(organization, { sinceMs: actor.origin.nowMs - DAY_MS, limit: MAX_FAILED }),
  ]);
  return { failed_deliveries_24h: failed, disabled: webhooks.filter(({ enabled }) => !enabled).length };
};
