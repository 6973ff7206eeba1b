import { createHash } from 'node:crypto';
import type { AccountTable, Place } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict, PreconditionFailed } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import { User } from './user.ts';

/** A user with what callers do not see. */
export interface StoredUser extends User {
  /** The user's id at the identity provider. */
  subject: string;
  /** Access tokens issued before this are rejected: Unix time in seconds. */
  tokens_valid_from: number;
}

const placeOf = (id: string): Place => ({ account: id, record: 'user' });
/** The list of an organization's members, or of the admins: each row is an id. */
const MEMBER = 'user#';
const memberPlace = ({ organization, id }: Pick<User, 'organization' | 'id'>): Place => ({
  account: organization ?? 'platform',
  record: MEMBER + id,
});
/** The user who has an e-mail address, or is about to: no two users have the same. */
const emailPlace = (email: string): Place => ({
  account: `email#${createHash('sha256').update(email).digest('base64url')}`,
  record: 'holder',
});
/** Ids come from paths: anything else is not looked up. */
const ID = /^user_[0-9A-Za-z]{18}$/;

/** Whoever creates or deletes a user claims the address meanwhile; this is longer than a function runs. */
const CLAIM_MS = 60_000;

const toUser = (row: Record<string, unknown>): StoredUser => ({
  ...User.parse(row),
  subject: String(row.subject),
  tokens_valid_from: Number(row.tokens_valid_from ?? 0),
});

/** A user as callers see it. */
export const toWire = ({ subject: _, tokens_valid_from: __, ...user }: StoredUser): User => user;

/** 409. */
export const emailTaken = (): Conflict =>
  new Conflict({
    code: 'email_taken',
    param: 'email',
    message:
      'There is a user with this e-mail address already, perhaps of another organization, or one is being made or deleted right now.',
  });

/** The rows of users in the table `accounts`. `claim` is any text that identifies whoever claims an address. */
export const createUserStore = (table: AccountTable) => ({
  /** One read; undefined where there is none. */
  get: async (id: string): Promise<StoredUser | undefined> => {
    if (!ID.test(id)) return undefined;
    const row = await table.get(placeOf(id));
    return row && toUser(row);
  },

  /** The id of the user with an address, in lower case. */
  idOfEmail: async (email: string): Promise<string | undefined> => {
    const row = await table.get(emailPlace(email));
    return row?.user === undefined ? undefined : String(row.user);
  },

  /** The users of an organization, or, of null, the admins, in the order of their ids. */
  list: async (organization: string | null, request: PageRequest): Promise<Page<User>> => {
    const { account } = memberPlace({ organization, id: '' });
    const { rows, hasMore } = await table.page({ account, prefix: MEMBER }, request);
    const ids = rows.map(({ record }) => String(record).slice(MEMBER.length));
    const found = await table.getMany(ids.map(placeOf));
    return {
      object: 'list',
      data: found.map((row) => toWire(toUser(row))),
      has_more: hasMore,
      next: hasMore ? (ids.at(-1) ?? null) : null,
    };
  },

  /** Claims an address that nobody has. @throws 409 where a user has it, or is being created or deleted with it right now */
  claimEmail: (email: string, claim: string, nowMs: number): Promise<void> =>
    table.claim(emailPlace(email), { claim, nowMs, olderThanMs: nowMs - CLAIM_MS }, emailTaken),

  /** Releases an address that was claimed and that no user has. Without `claim`, whoever claimed it. */
  releaseEmail: (email: string, claim?: string): Promise<void> => table.unclaim(emailPlace(email), claim),

  /** A user with the address that was claimed for them. */
  toCreate: (user: StoredUser, claim: string): Write[] => [
    table.toKeepClaim(emailPlace(user.email), claim, { user: user.id }, emailTaken),
    table.toCreate(placeOf(user.id), user, emailTaken),
    table.toCreate(memberPlace(user), {}, emailTaken),
  ],

  /** Replaces the version that was read; 412 where it has changed since. The address and the organization must stay. */
  toReplace: (user: StoredUser, before: StoredUser): Write =>
    // A login is recorded without a new version.
    table.toReplace(placeOf(user.id), user, { last_login_at: before.last_login_at, tokens_valid_from: before.tokens_valid_from }),

  /** Deletes the user; the address stays claimed until the identity provider has deleted them too. */
  toDelete: (user: StoredUser, claim: string, nowMs: number): Write[] => [
    table.toDelete(placeOf(user.id), user.version),
    table.toClaim(emailPlace(user.email), { claim, nowMs }),
    table.toDelete(memberPlace(user)),
  ],

  /** Makes sure that whoever changes the rights of others is still active: of two who disable each other, one succeeds. */
  toCheckActive: (id: string): Write => table.toCheck(placeOf(id), 'status', 'active', () => new PreconditionFailed()),

  /** Ends all sessions of a user: earlier tokens are rejected. */
  endSessions: (id: string, seconds: number): Promise<void> => table.set(placeOf(id), 'tokens_valid_from', seconds),

  /** Records a login, in one write that no concurrent change can refuse. */
  noteLogin: (id: string, seconds: number): Promise<void> => table.set(placeOf(id), 'last_login_at', seconds),
});

export type UserStore = ReturnType<typeof createUserStore>;
