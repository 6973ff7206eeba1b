import * as z from 'zod';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { RecordKey, RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict, PreconditionFailed } from '../../../shared/http/errors.ts';

const NamePart = z.string().nullable().default(null);

/** A user whom an identity provider manages, beside the user's own row. */
export const ScimUserRow = z.object({
  /** The user's id. */
  id: z.string(),
  external_id: z.string().nullable(),
  names: z.object({ display: NamePart, formatted: NamePart, given: NamePart, family: NamePart }),
  groups: z.array(z.string()),
  /** The last value from the identity provider, which can enable only users whom it has disabled. */
  active: z.boolean(),
  /** The user's role is that of a group. */
  role_is_from_group: z.boolean(),
  version: z.int().min(1),
});
export type ScimUserRow = z.infer<typeof ScimUserRow>;

export const ScimGroupRow = z.object({
  id: z.string(),
  external_id: z.string().nullable(),
  display_name: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  version: z.int().min(1),
});
export type ScimGroupRow = z.infer<typeof ScimGroupRow>;

// The prefix of all rows of SCIM, including those of tokens and counts.
const ANY = 'scim-';
const USER = `${ANY}user#`;
const GROUP = `${ANY}group#`;
const PARALLEL = 25;
const MAX_SCIM_GROUPS = 500;
// Bounds the size of a row.
export const MAX_GROUPS_OF_USER = 200;

const tooManyGroups = (): Conflict =>
  new Conflict({
    code: 'too_many_groups',
    message: `An identity provider can have at most ${MAX_SCIM_GROUPS} groups. Remove groups from this application.`,
  });

/** The users and groups of identity providers, in the table `accounts`, in the partition of each identity provider. */
export const createScimStore = (table: RecordTable) => {
  const userKey = (provider: string, id: string): RecordKey => ({ account: provider, record: USER + id });
  const groupKey = (provider: string, id: string): RecordKey => ({ account: provider, record: GROUP + id });
  const groupCount = (provider: string): RecordKey => ({ account: provider, record: 'scim-groups' });
  return {
    findUser: async (provider: string, id: string): Promise<ScimUserRow | undefined> => {
      const row = await table.get(userKey(provider, id));
      return row && ScimUserRow.parse(row);
    },

    /** Returns true if one of these identity providers manages the user. */
    isManagedBy: async (providers: readonly string[], id: string): Promise<boolean> =>
      (await table.getMany(providers.map((provider) => userKey(provider, id)))).length > 0,

    /** Lists all users of an identity provider: at most as many as its organization can have. */
    listUsers: async (provider: string): Promise<ScimUserRow[]> =>
      (await Array.fromAsync(table.all({ account: provider, prefix: USER }))).map((row) => ScimUserRow.parse(row)),

    toCreateUser: (provider: string, row: ScimUserRow): Write =>
      table.toCreate(userKey(provider, row.id), row, () => new PreconditionFailed()),

    /** Replaces the version that was read; 412 if it has changed since. */
    toReplaceUser: (provider: string, row: ScimUserRow): Write => table.toReplace(userKey(provider, row.id), row),

    /** Deletes the row of a user, whatever it is. */
    toDeleteUser: (provider: string, id: string): Write => table.toDelete(userKey(provider, id)),

    findGroup: async (provider: string, id: string): Promise<ScimGroupRow | undefined> => {
      const row = await table.get(groupKey(provider, id));
      return row && ScimGroupRow.parse(row);
    },

    /** Lists all groups of an identity provider: at most 500. */
    listGroups: async (provider: string): Promise<ScimGroupRow[]> =>
      (await Array.fromAsync(table.all({ account: provider, prefix: GROUP }))).map((row) => ScimGroupRow.parse(row)),

    toCreateGroup: (provider: string, row: ScimGroupRow): Write[] => [
      table.toCreate(groupKey(provider, row.id), row, () => new Error(`${row.id} already exists.`)),
      table.toCount(groupCount(provider), 1, MAX_SCIM_GROUPS, tooManyGroups),
    ],

    toReplaceGroup: (provider: string, row: ScimGroupRow): Write => table.toReplace(groupKey(provider, row.id), row),

    /** Checks that a group is as it was read: 412 otherwise. */
    toCheckGroup: (provider: string, { id, version }: ScimGroupRow): Write =>
      table.toCheck(groupKey(provider, id), { version }, () => new PreconditionFailed()),

    toDeleteGroup: (provider: string, { id, version }: ScimGroupRow): Write[] => [
      table.toDelete(groupKey(provider, id), version),
      table.toCount(groupCount(provider), -1, MAX_SCIM_GROUPS, tooManyGroups),
    ],

    /** Deletes all rows of an identity provider, with its tokens. Its users stay. */
    clear: async (provider: string): Promise<void> => {
      const rows = await Array.fromAsync(table.all({ account: provider, prefix: ANY }));
      const places = rows.map(({ record }) => ({ account: provider, record: String(record) }));
      throwFailures(await inParallel(places, PARALLEL, table.remove));
    },
  };
};

export type ScimStore = ReturnType<typeof createScimStore>;
