import * as z from 'zod';
import type { Origin } from '../audit/origin.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import type { Permission, Role } from '../hosts/permissions.ts';
import { Conflict } from '../http/errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { RightsChanged } from './errors.ts';
import { placeOfSession, placeOfSessionFloor, StoredSession } from './session-store.ts';
import { User } from './user.ts';
import { emailRecordKey, MEMBER, memberRecordKey, placeOfUser } from './user-directory.ts';

/** A user with the fields that callers don't see. */
export interface StoredUser extends User {
  /** The user's id at the identity provider. */
  subject: string;
  /** Access tokens issued before this are rejected: Unix time in seconds. */
  tokens_valid_from: number;
  /**
   * `on`: the last login used a second factor, or the user has set one up since. `exempt`: an operator lets this admin
   * do without. Default: `off`.
   */
  second_factor?: SecondFactor;
  /** Absent: a person. */
  kind?: 'service_account';
  /** Only service accounts: the permissions of their role that they have. Absent: all of them. */
  permissions?: readonly Permission[];
}

export type SecondFactor = 'on' | 'off' | 'exempt';

interface Sender {
  userId: string;
  role: Role;
  origin: Origin;
}

// Ids come from request paths; malformed ones are not looked up.
const ID = /^user_[0-9A-Za-z]{18}$/;

// Disabled users included.
const MAX_USERS = 1_000;

const tooManyUsers = (): Conflict =>
  new Conflict({
    code: 'too_many_users',
    message: `An organization can have at most ${MAX_USERS} users. Delete one who is no longer needed, then invite this person.`,
  });

// How long a request that creates or deletes a user holds its claim on the address: longer than a function can run.
const CLAIM_MS = 60_000;

// A later release, which was rolled back, can have stored roles that this one doesn't know. They have no permissions.
const UserRow = User.extend({ role: z.custom<Role>((role) => typeof role === 'string') });

/** Reads a user's row. */
export const toStoredUser = (row: Record<string, unknown>): StoredUser => ({
  ...UserRow.parse(row),
  subject: String(row.subject),
  tokens_valid_from: Number(row.tokens_valid_from ?? 0),
  ...(row.second_factor !== undefined && { second_factor: row.second_factor as SecondFactor }),
  ...(row.kind !== undefined && { kind: row.kind as 'service_account' }),
  ...(row.permissions !== undefined && { permissions: row.permissions as readonly Permission[] }),
});

/** The fields of a user that callers see. */
export const toWire = ({
  subject: _,
  tokens_valid_from: __,
  second_factor: ___,
  kind: ____,
  permissions: _____,
  ...user
}: StoredUser): User => user;

/** 409 for an email address that is in use. */
export const emailTaken = (): Conflict =>
  new Conflict({
    code: 'email_taken',
    param: 'email',
    message:
      'This email address is in use, perhaps in another organization, or is being deleted. Use another one, or try again in a minute.',
  });

/** Users in the `accounts` table. `claim` is any text that identifies the request that claims an address. */
export const createUserStore = (table: RecordTable) => {
  // Admins and support have no organization. Users of releases before this count are not in it.
  const toCount = ({ organization }: Pick<User, 'organization'>, by: 1 | -1): Write[] =>
    organization === null ? [] : [table.toCount({ account: organization, record: 'users' }, by, MAX_USERS, tooManyUsers)];
  return {
    get: async (id: string): Promise<StoredUser | undefined> => {
      if (!ID.test(id)) return undefined;
      const row = await table.get(placeOfUser(id));
      return row && toStoredUser(row);
    },

    /** Reads a user and a session of theirs with one call. */
    getSignedIn: async (
      id: string,
      sessionId: string | undefined,
    ): Promise<{ user: StoredUser | undefined; session: StoredSession | undefined; floor: number }> => {
      const keys = [placeOfUser(id), placeOfSessionFloor(id), ...(sessionId === undefined ? [] : [placeOfSession(id, sessionId)])];
      const rows = new Map((await table.getMany(keys)).map((row) => [String(row.record), row]));
      const rowOf = ({ record }: RecordKey) => rows.get(record);
      const user = rowOf(placeOfUser(id));
      const session = sessionId === undefined ? undefined : rowOf(placeOfSession(id, sessionId));
      return {
        user: user && toStoredUser(user),
        session: session && StoredSession.parse(session),
        floor: Number(rowOf(placeOfSessionFloor(id))?.floor ?? 0),
      };
    },
    /** Returns those of at most 100 users who exist. */
    getMany: async (ids: readonly string[]): Promise<StoredUser[]> =>
      (await table.getMany(ids.filter((id) => ID.test(id)).map(placeOfUser))).map(toStoredUser),

    /** Returns the id of the user with this address, which must be in lower case. */
    idOfEmail: async (email: string): Promise<string | undefined> => {
      const row = await table.get(emailRecordKey(email));
      return row?.user === undefined ? undefined : String(row.user);
    },

    /** Lists the users of an organization, or the admins for null, sorted by id. */
    list: async (organization: string | null, request: PageRequest): Promise<Page<User>> => {
      const { account } = memberRecordKey(organization, '');
      const { rows, hasMore } = await table.page({ account, prefix: MEMBER }, request);
      const ids = rows.map(({ record }) => String(record).slice(MEMBER.length));
      const users = await table.getMany(ids.map(placeOfUser));
      return {
        object: 'list',
        data: users.map((row) => toWire(toStoredUser(row))),
        has_more: hasMore,
        next: hasMore ? (ids.at(-1) ?? null) : null,
      };
    },

    /** Claims a free address. @throws 409 if a user has it or another request has claimed it */
    claimEmail: (email: string, claim: string, nowMs: number): Promise<void> =>
      table.claim(emailRecordKey(email), { claim, nowMs, olderThanMs: nowMs - CLAIM_MS }, emailTaken),

    /** Releases a claimed address that no user has. Without `claim`, releases any request's claim. */
    releaseEmail: (email: string, claim?: string): Promise<void> => table.unclaim(emailRecordKey(email), claim),

    /** Creates a user with an address that was claimed for them. */
    toCreate: (user: StoredUser, claim: string): Write[] => [
      table.toKeepClaim(emailRecordKey(user.email), claim, { user: user.id }, emailTaken),
      table.toCreate(placeOfUser(user.id), user, emailTaken),
      table.toCreate(memberRecordKey(user.organization, user.id), {}, emailTaken),
      ...toCount(user, 1),
    ],

    /**
     * Replaces the version that was read: 412 if it has changed since. The address and the organization must stay the
     * same.
     */
    toReplace: (user: StoredUser, before: StoredUser): Write =>
      // These fields change without a new version.
      table.toReplace(placeOfUser(user.id), user, {
        last_login_at: before.last_login_at,
        tokens_valid_from: before.tokens_valid_from,
        ...(before.second_factor && { second_factor: before.second_factor }),
      }),

    /** Deletes a user. The address stays claimed until the identity provider has deleted the user too. */
    toDelete: (user: StoredUser, claim: string, nowMs: number): Write[] => [
      table.toDelete(placeOfUser(user.id), user.version),
      table.toClaim(emailRecordKey(user.email), { claim, nowMs }),
      table.toDelete(memberRecordKey(user.organization, user.id)),
      ...toCount(user, -1),
    ],

    /** Deletes a user whom the identity provider has deleted already, so that their address is free at once. */
    toDeleteWithEmail: (user: StoredUser): Write[] => [
      table.toDelete(placeOfUser(user.id), user.version),
      table.toDelete(emailRecordKey(user.email)),
      table.toDelete(memberRecordKey(user.organization, user.id)),
    ],

    /** Checks that the sender of a change still has their role. Empty for operators, who have no row. */
    toCheckActor: ({ userId, role, origin }: Sender): Write[] =>
      origin.actor.type === 'user' ? [table.toCheck(placeOfUser(userId), { status: 'active', role }, () => new RightsChanged())] : [],

    /** Checks that a user is an active owner. @param refused the error otherwise */
    toCheckOwner: (id: string, refused: () => Error): Write => table.toCheck(placeOfUser(id), { status: 'active', role: 'owner' }, refused),

    /** Ends all sessions of a user: tokens issued before this time (Unix seconds) are rejected. */
    endSessions: (id: string, seconds: number): Promise<void> => table.set(placeOfUser(id), 'tokens_valid_from', seconds),

    /**
     * Records that a user has a second factor, or has none. An exempt admin stays exempt, until an operator says
     * otherwise.
     */
    noteSecondFactor: async ({ id, second_factor: before = 'off' }: StoredUser, isOn: boolean): Promise<void> => {
      const after: SecondFactor = isOn ? 'on' : 'off';
      if (before !== 'exempt' && before !== after) await table.set(placeOfUser(id), 'second_factor', after);
    },

    /** Lets an admin do without a second factor. */
    exemptFromSecondFactor: (id: string): Promise<void> => table.set(placeOfUser(id), 'second_factor', 'exempt' satisfies SecondFactor),

    /** Records a login. The write is unconditional, so concurrent changes cannot make it fail. */
    noteLogin: (id: string, seconds: number): Promise<void> => table.set(placeOfUser(id), 'last_login_at', seconds),
  };
};

export type UserStore = ReturnType<typeof createUserStore>;
