import { inBatches } from '../../../shared/database/in-batches.ts';
import type { RequestRow } from '../../../shared/observability/request-row.ts';
import { type Actor, isOfPlatform, seesOnlyOwn } from '../access/actor.ts';
import type { LookupDependencies } from './lookup-dependencies.ts';
import type { LookupMatch } from './lookup-resource.ts';

// A request's row is in the partition of its organization, which an id doesn't tell.
const MAX_ORGANIZATIONS = 50;
const AT_ONCE = 16;

const rowOfAny = async ({ organizations, requestRows }: LookupDependencies, id: string): Promise<RequestRow | undefined> => {
  const { data } = await organizations.list({ limit: MAX_ORGANIZATIONS });
  for (const batch of inBatches(data, AT_ONCE)) {
    const rows = await Promise.all(batch.map((organization) => requestRows.get(organization.id, id)));
    const found = rows.find((row) => row !== undefined);
    if (found) return found;
  }
  return undefined;
};

/**
 * Finds a request of the last 30 days that the actor can see: members those of their keys, admins those of the newest
 * 50 organizations.
 */
export const findRequest = async (deps: LookupDependencies, actor: Actor, id: string): Promise<LookupMatch | undefined> => {
  const row = isOfPlatform(actor) ? await rowOfAny(deps, id) : await deps.requestRows.get(actor.organization ?? '', id);
  if (!row) return undefined;
  if (seesOnlyOwn(actor) && (await deps.apiKeys.get(row.org_id, row.key_id)).created_by !== actor.userId) return undefined;
  const named = isOfPlatform(actor) ? `?organization=${row.org_id}` : '';
  return {
    object: 'request',
    id,
    name: row.model ?? null,
    organization: row.org_id,
    url_path: `/v1/observability/requests/${id}${named}`,
  };
};
