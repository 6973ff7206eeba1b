import type { Actor, Role } from '../../functions/control/access/actor.ts';
import type { Database } from '../../shared/database/database.ts';
import { transact } from '../../shared/database/transaction.ts';
import { userIdOf } from '../../shared/identity/user.ts';
import type { UserPool } from '../../shared/identity/user-pool.ts';
import type { StoredUser, UserStore } from '../../shared/identity/user-store.ts';
import { newId } from './new-id.ts';

export const ISSUER = 'https://issuer.example.com';

/** An identity provider that accepts every call about a user. */
export const acceptingUserPool = {
  setEnabled: async () => undefined,
  signOutEverywhere: async () => undefined,
  deleteUser: async () => undefined,
} as Partial<UserPool> as UserPool;

/** Stores a user, whom the identity provider does not know, and returns them as the actor of a request. */
export const storeUser = async (
  { database, users }: { database: Database; users: UserStore },
  {
    role,
    organization,
    nowMs = Date.now(),
    maxApiKeys = 5,
  }: { role: Role; organization: string | null; nowMs?: number; maxApiKeys?: number },
): Promise<Actor> => {
  const subject = newId('user');
  const email = `${subject}@example.com`.toLowerCase();
  const seconds = Math.floor(nowMs / 1_000);
  const user: StoredUser = {
    id: userIdOf(ISSUER, subject),
    object: 'user',
    email,
    name: null,
    role,
    organization,
    status: 'active',
    max_api_keys: maxApiKeys,
    last_login_at: null,
    created_at: seconds,
    updated_at: seconds,
    version: 1,
    subject,
    tokens_valid_from: 0,
  };
  await users.claimEmail(email, user.id, nowMs);
  await transact(database, users.toCreate(user, user.id));
  const { id: userId } = user;
  const actor = { type: 'user', id: userId, email, organization } as const;
  return { userId, email, role, organization, maxApiKeys, origin: { actor, requestId: 'req_1', ipAddress: '192.0.2.1', nowMs } };
};
