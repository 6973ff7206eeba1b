import { createHash } from 'node:crypto';
import type { AccountTable, Place } from '../accounts/account-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict, ResourceNotFound } from '../http/errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { User } from './user.ts';

/** What is kept of a user, and callers do not see. */
export interface StoredUser extends User {
  /** What the identity provider calls the user. */
  subject: string;
}

const placeOf = (id: string): Place => ({ account: id, record: 'user' });
/** The members of an organization, or of the platform: each of them an id. */
const MEMBER = 'user#';
const memberPlace = ({ organization, id }: Pick<User, 'organization' | 'id'>): Place => ({
  account: organization ?? 'platform',
  record: MEMBER + id,
});
/** Who has an address; no two users have the same. */
const emailPlace = (email: string): Place => ({
  account: `email#${createHash('sha256').update(email).digest('base64url')}`,
  record: 'user',
});

const toUser = (row: Record<string, unknown>): StoredUser => ({ ...User.parse(row), subject: String(row.subject) });

/** A user as callers see it. */
export const toWire = ({ subject: _, ...user }: StoredUser): User => user;

/** 409. */
export const emailTaken = (): Conflict =>
  new Conflict({
    code: 'email_taken',
    param: 'email',
    message: 'There is a user with this e-mail address already, perhaps of another organization.',
  });

/** The rows of users in the table `accounts`. */
export const createUserStore = (table: AccountTable) => ({
  /** One read; undefined where there is none. */
  get: async (id: string): Promise<StoredUser | undefined> => {
    const row = await table.get(placeOf(id));
    return row && toUser(row);
  },

  /** @throws 404 */
  require: async (id: string): Promise<StoredUser> => {
    const row = await table.get(placeOf(id));
    if (!row) throw new ResourceNotFound('user', id);
    return toUser(row);
  },

  /** The id of the user with an address, in lower case. */
  idOfEmail: async (email: string): Promise<string | undefined> => {
    const row = await table.get(emailPlace(email));
    return row && String(row.user);
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

  toCreate: (user: StoredUser): Write[] => [
    table.toCreate(emailPlace(user.email), { user: user.id }, emailTaken),
    table.toCreate(placeOf(user.id), user, emailTaken),
    table.toCreate(memberPlace(user), {}, emailTaken),
  ],

  /** In place of the version that was read: 412 where it is another by now. Neither the address nor the organization may be another. */
  toReplace: (user: StoredUser): Write => table.toReplace(placeOf(user.id), user),

  toDelete: (user: StoredUser): Write[] => [
    table.toDelete(placeOf(user.id), user.version),
    table.toDelete(emailPlace(user.email)),
    table.toDelete(memberPlace(user)),
  ],

  /** Notes a login, in one write that no change stands in the way of. */
  noteLogin: (id: string, seconds: number): Promise<void> => table.set(placeOf(id), 'last_login_at', seconds),
});

export type UserStore = ReturnType<typeof createUserStore>;
