import * as z from 'zod';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import { ResourceNotFound } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';

/** The key of an organization's row in the table `accounts`. */
export const placeOfOrganization = (id: string): RecordKey => ({ account: id, record: 'organization' });

/** The partition that lists all organization ids in the order of their creation, after this prefix. */
export const DIRECTORY = 'organizations';
export const LISTED = 'organization#';

const BilledOrganization = z.object({ id: z.string(), name: z.string(), created_at: z.int() });
export interface BilledOrganization {
  id: string;
  name: string;
  createdAtMs: number;
}

const toBilled = (row: unknown): BilledOrganization => {
  const { id, name, created_at } = BilledOrganization.parse(row);
  return { id, name, createdAtMs: created_at * 1_000 };
};

/** The organizations, for functions that bill them. */
export const createOrganizationDirectory = (accounts: RecordTable) => ({
  /** The ids of all organizations, the oldest first. */
  ids: async function* (): AsyncGenerator<string> {
    for await (const { record } of accounts.all({ account: DIRECTORY, prefix: LISTED })) yield String(record).slice(LISTED.length);
  },

  /** A page of the ids, the oldest first. */
  page: async (request: PageRequest): Promise<{ ids: string[]; hasMore: boolean }> => {
    const { rows, hasMore } = await accounts.page({ account: DIRECTORY, prefix: LISTED }, request);
    return { ids: rows.map(({ record }) => String(record).slice(LISTED.length)), hasMore };
  },

  /** At most 100 organizations, in the order of their ids; missing ones are left out. */
  getMany: async (ids: readonly string[]): Promise<BilledOrganization[]> =>
    (await accounts.getMany(ids.map(placeOfOrganization))).map(toBilled),

  /** An organization exists and is not suspended. */
  isActive: async (id: string): Promise<boolean> => (await accounts.get(placeOfOrganization(id)))?.status === 'active',

  /** @throws 404 */
  nameOf: async (id: string): Promise<string> => {
    const row = await accounts.get(placeOfOrganization(id));
    if (!row) throw new ResourceNotFound('organization', id, 'organization');
    return toBilled(row).name;
  },
});

export type OrganizationDirectory = ReturnType<typeof createOrganizationDirectory>;
