import { OrganizationSuspended } from '../../../shared/admission/item/organization.ts';
import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import { DIRECTORY, LISTED, placeOfOrganization } from '../../../shared/billing/organization-directory.ts';
import { ignoringUnknown } from '../../../shared/database/ignoring-unknown.ts';
import type { RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import { AppliedLimits, DEFAULT_CONCURRENCY } from '../limits/limits.ts';
import { Organization } from './organization.ts';

const StoredOrganization = ignoringUnknown(Organization);

// Rows of earlier releases don't say whether an admin has set their concurrency.
const EARLIER_DEFAULT_CONCURRENCY = 1_000;

const toOrganization = (row: Record<string, unknown>): Organization => {
  const { concurrency } = (row.limits ?? {}) as Partial<AppliedLimits>;
  const isDefault = concurrency === undefined || concurrency === EARLIER_DEFAULT_CONCURRENCY;
  return StoredOrganization.parse({ ...row, has_default_concurrency: row.has_default_concurrency ?? isDefault });
};

const notFound = (id: string) => new ResourceNotFound('organization', id, 'organization');

/**
 * The organizations in the `accounts` table.
 * @param defaultConcurrency of an organization for which no admin has set another
 */
export const createOrganizationStore = (table: RecordTable, defaultConcurrency: number = DEFAULT_CONCURRENCY) => ({
  defaultConcurrency,

  /** The limits of an organization for which no admin has set any. */
  defaultLimits: (): AppliedLimits => AppliedLimits.parse({ concurrency: defaultConcurrency }),

  get: async (id: string): Promise<Organization> => {
    const row = await table.get(placeOfOrganization(id));
    if (!row) throw notFound(id);
    return toOrganization(row);
  },

  /** Lists organizations, newest first. */
  list: async (request: PageRequest): Promise<Page<Organization>> => {
    const { rows, hasMore } = await table.page({ account: DIRECTORY, prefix: LISTED, newestFirst: true }, request);
    const ids = rows.map(({ record }) => String(record).slice(LISTED.length));
    const organizations = await table.getMany(ids.map(placeOfOrganization));
    return {
      object: 'list',
      data: organizations.map(toOrganization),
      has_more: hasMore,
      next: hasMore ? (ids.at(-1) ?? null) : null,
    };
  },

  toCreate: (organization: Organization): Write[] => {
    const exists = () => new Error(`${organization.id} already exists.`);
    return [
      table.toCreate(placeOfOrganization(organization.id), organization, exists),
      table.toCreate({ account: DIRECTORY, record: LISTED + organization.id }, {}, exists),
    ];
  },

  /** Replaces the version that was read; 412 if it has changed since. */
  toReplace: (organization: Organization, { no_content_version, no_content_pending }: Organization = organization): Write =>
    table.toReplace(placeOfOrganization(organization.id), organization, no_content_version > 0 ? { no_content_pending } : {}),

  /** Checks that it exists (404) and is active (403). */
  toCheckActive: (id: string): Write =>
    table.toCheck(placeOfOrganization(id), { status: 'active' }, (row) => (row ? new OrganizationSuspended() : notFound(id))),

  /** Also checks that its setting for content is the one that was read: ChangedMeanwhile otherwise. */
  toCheckContent: ({ id, no_content_version }: Organization): Write => {
    const refused = (row: Record<string, unknown> | undefined): Error => {
      if (!row) return notFound(id);
      return row.status === 'active' ? new ChangedMeanwhile() : new OrganizationSuspended();
    };
    return table.toCheck(placeOfOrganization(id), { status: 'active' }, refused, { no_content_version });
  },

  /** Records that all keys have the setting for content of this version, unless it was changed again. */
  completeContent: ({ id, no_content_version }: Organization): Promise<void> =>
    table.set(placeOfOrganization(id), 'no_content_pending', false, ['no_content_version', no_content_version]),
});

export type OrganizationStore = ReturnType<typeof createOrganizationStore>;
