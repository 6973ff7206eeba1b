import { DAY_MS } from '../../../shared/time/units.ts';
import type { OrganizationReads } from './summary-reads.ts';
import type { WebhooksSection } from './summary-resource.ts';

const MAX_FAILED = 100;

/** Counts the deliveries that were given up in the last day, and the webhooks that get none. */
export const webhooksSection = async ({ deps, actor, organization }: OrganizationReads): Promise<WebhooksSection> => {
  const [webhooks, givenUp] = await Promise.all([
    deps.webhooks.list(organization),
    deps.deliveries.listGivenUp(organization, { sinceMs: actor.origin.nowMs - DAY_MS, limit: MAX_FAILED }),
  ]);
  // Nobody can replay those of a deleted webhook.
  const ids = new Set(webhooks.map(({ id }) => id));
  const failed = givenUp.filter((webhook) => webhook === undefined || ids.has(webhook)).length;
  return { failed_deliveries_24h: failed, disabled: webhooks.filter(({ enabled }) => !enabled).length };
};
