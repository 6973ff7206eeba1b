import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Role } from '../hosts/permissions.ts';

/** The key of a user's row in the table `accounts`. */
export const placeOfUser = (id: string): RecordKey => ({ account: id, record: 'user' });

/** Prefix of the rows that list the users of an organization, or the admins, by id. */
export const MEMBER = 'user#';
/** The row that lists a user of an organization; null: of the admins and support. */
export const memberRecordKey = (organization: string | null, id: string): RecordKey => ({
  account: organization ?? 'platform',
  record: MEMBER + id,
});

/** The row that reserves an email address, in lower case, for one user. */
export const emailRecordKey = (email: string): RecordKey => ({
  account: `email#${createHash('sha256').update(email).digest('base64url')}`,
  record: 'holder',
});

const DirectoryUser = z.object({
  id: z.string(),
  email: z.string(),
  role: z.custom<Role>((role) => typeof role === 'string'),
  organization: z.string().nullable(),
  status: z.enum(['active', 'disabled']),
});
export type DirectoryUser = z.infer<typeof DirectoryUser>;

export const isActiveIn = (user: DirectoryUser | undefined, organization: string, least: 'member' | 'owner'): boolean =>
  user?.status === 'active' && user.organization === organization && (least === 'member' || user.role === least);

const ROWS_PER_PAGE = 100;
// An organization's owners are searched among the users of this many pages.
const MAX_USER_PAGES = 20;

/** The users, for functions that send emails to them. Service accounts have addresses that get no mail. */
export const createUserDirectory = (accounts: RecordTable) => {
  const get = async (id: string): Promise<DirectoryUser | undefined> => {
    const row = await accounts.get(placeOfUser(id));
    return row && row.kind === undefined ? DirectoryUser.parse(row) : undefined;
  };
  return {
    get,

    /** Returns the user who logs in with an address. */
    ofEmail: async (email: string): Promise<DirectoryUser | undefined> => {
      const holder = await accounts.get(emailRecordKey(email.toLowerCase()));
      return holder?.user === undefined ? undefined : get(String(holder.user));
    },

    /** Returns the first active owners of an organization, by id. */
    ownersOf: async (organization: string, limit: number): Promise<DirectoryUser[]> => {
      const owners: DirectoryUser[] = [];
      let after: string | undefined;
      for (let page = 0; page < MAX_USER_PAGES && owners.length < limit; page++) {
        const { rows, hasMore } = await accounts.page({ account: organization, prefix: MEMBER }, { limit: ROWS_PER_PAGE, after });
        const ids = rows.map(({ record }) => String(record).slice(MEMBER.length));
        const users = (await accounts.getMany(ids.map(placeOfUser))).map((row) => DirectoryUser.parse(row));
        owners.push(...users.filter((user) => isActiveIn(user, organization, 'owner')));
        after = ids.at(-1);
        if (!hasMore) break;
      }
      return owners.slice(0, limit);
    },
  };
};

export type UserDirectory = ReturnType<typeof createUserDirectory>;
