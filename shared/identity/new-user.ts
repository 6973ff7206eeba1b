import { unixSeconds } from '../time/units.ts';
import { DEFAULT_MAX_API_KEYS, userIdOf } from './user.ts';
import type { StoredUser } from './user-store.ts';

type GivenFields = Pick<StoredUser, 'email' | 'name' | 'role' | 'organization'> & Partial<Pick<StoredUser, 'status' | 'second_factor'>>;

/** The row of a new user, whose id follows from the issuer and the subject of their tokens. */
export const newStoredUser = ({ issuer, subject }: { issuer: string; subject: string }, fields: GivenFields, nowMs: number): StoredUser => {
  const seconds = unixSeconds(nowMs);
  return {
    id: userIdOf(issuer, subject),
    object: 'user',
    ...fields,
    status: fields.status ?? 'active',
    max_api_keys: DEFAULT_MAX_API_KEYS,
    last_login_at: null,
    created_at: seconds,
    updated_at: seconds,
    version: 1,
    subject,
    // The identity provider may already know this user: reject tokens that it issued before.
    tokens_valid_from: seconds,
  };
};
