import { HOUR_MS } from '../../../shared/time/units.ts';
import { sumOfCounts } from '../../../shared/usage/counts.ts';
import { boundedRows } from './bounded-rows.ts';
import type { OrganizationReads } from './summary-reads.ts';
import type { RequestsSection } from './summary-resource.ts';

const HOURS = 24;

/** Counts the requests that the actor can see of the current hour and the 23 before it. */
export const requestsSection = async ({ deps, actor, organization, ownKeys }: OrganizationReads): Promise<RequestsSection> => {
  const { nowMs } = actor.origin;
  const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS;
  const range = { organization, fromMs: toMs - HOURS * HOUR_MS, toMs };
  const keys = await ownKeys();
  const counted = { requests: 0, errors: 0, refusals: 0 };
  const countAdmitted = async (): Promise<void> => {
    const query = { ...range, span: 'hour', detail: keys ? 'key' : 'model' } as const;
    for await (const { keyId, totals } of boundedRows(deps.organizationTotals.list(query))) {
      if (keys && !keys.has(keyId ?? '')) continue;
      counted.requests += totals.requests;
      counted.errors += sumOfCounts(totals.errors) + (totals.outcomes.get('orphaned') ?? 0);
    }
  };
  const countRefused = async (): Promise<void> => {
    for await (const { keyId, count } of boundedRows(deps.refusals.list(range)))
      if (!keys || (keyId !== null && keys.has(keyId))) counted.refusals += count;
  };
  await Promise.all([countAdmitted(), countRefused()]);
  return counted;
};
