import * as z from 'zod';
import type { LimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { type Page, type PageRequest, pageQueryOf } from '../../../shared/http/page.ts';
import { type Actor, organizationFor, seesOnlyOwn } from '../access/actor.ts';
import { filteredPage } from '../lists/filtered-page.ts';
import { containsText, textFilter } from '../lists/text-filter.ts';
import { UnixSeconds } from '../lists/unix-seconds.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { ProjectId } from '../projects/project.ts';
import { ApiKey, KeyPurpose, type StoredApiKey } from './api-key.ts';
import { type ApiKeyReads, withLastUse } from './api-key-rights.ts';

const filters = {
  purpose: KeyPurpose.default('standard').meta({ description: 'The purpose of the keys to list.' }),
  status: ApiKey.shape.status.optional().meta({ description: 'Only keys with this status.' }),
  created_by: z.string().min(1).max(256).optional().meta({ description: 'Only keys of this user, or of this operator.' }),
  project_id: ProjectId.optional().meta({ description: 'Only keys of this project.' }),
  q: textFilter('name, hint or id'),
  model: z.string().min(1).max(256).optional().meta({ description: 'Only keys that can use this model.' }),
  expires_before: UnixSeconds.optional().meta({ description: 'Only keys that expire before this time (Unix seconds).' }),
  unused_since: UnixSeconds.optional().meta({
    description: 'Only keys that were created before this time (Unix seconds) and have not been used since.',
  }),
};

export const KeysQuery = z.strictObject({
  ...pageQueryOf('key'),
  organization: OrganizationId.optional().meta({
    description: 'The organization whose keys to list. Required for admins; otherwise your own organization.',
  }),
  ...filters,
});
type KeysQuery = z.output<typeof KeysQuery>;
type Filters = Omit<KeysQuery, 'organization' | 'limit' | 'after'>;

const matches = (
  key: StoredApiKey,
  { purpose, status, created_by, project_id, q, model, expires_before, unused_since }: Filters,
): boolean =>
  key.purpose === purpose &&
  key.status === (status ?? key.status) &&
  key.created_by === (created_by ?? key.created_by) &&
  (project_id === undefined || key.project_id === project_id) &&
  containsText(q, [key.name, key.hint, key.id]) &&
  (model === undefined || key.models === null || key.models.includes(model)) &&
  (expires_before === undefined || (key.expires_at !== null && key.expires_at < expires_before)) &&
  (unused_since === undefined || key.created_at < unused_since);

const withoutUse = async (
  limiters: LimiterConfigurationStore,
  keys: readonly StoredApiKey[],
  since: number | undefined,
): Promise<readonly StoredApiKey[]> => {
  if (since === undefined) return keys;
  const used = new Set((await withLastUse(limiters, keys)).filter((key) => (key.last_used_at ?? 0) >= since).map(({ id }) => id));
  return keys.filter(({ id }) => !used.has(id));
};

/**
 * Lists the keys that the actor can see and that match all filters, newest first. A page can be short or empty although
 * there are more.
 * @throws 400, 404
 */
export const listApiKeys = async (
  { apiKeys, limiters }: ApiKeyReads,
  actor: Actor,
  { organization: named, limit, after, ...wanted }: KeysQuery,
): Promise<Page<ApiKey>> => {
  const organization = organizationFor(actor, named);
  const isVisible = ({ created_by }: StoredApiKey): boolean => !seesOnlyOwn(actor) || created_by === actor.userId;
  const read = async (request: PageRequest) => {
    const { keys, hasMore } = await apiKeys.list(organization, request);
    const matching = keys.filter((key) => isVisible(key) && matches(key, wanted));
    return {
      wanted: await withoutUse(limiters, matching, wanted.unused_since),
      next: hasMore ? (keys.at(-1)?.id ?? null) : null,
    };
  };
  // Few keys of an organization have another purpose.
  const isFiltered = seesOnlyOwn(actor) || wanted.purpose !== 'standard' || Object.keys(wanted).length > 1;
  const { entries, next } = await filteredPage({ limit, after }, { read, cursorOf: ({ id }) => id, isFiltered });
  return { object: 'list', data: await withLastUse(limiters, entries), has_more: next !== null, next };
};
