import { randomBytes } from 'node:crypto';
import type { UserPool } from '../identity/user-pool.ts';

const PASSWORD_BYTES = 24;

/**
 * Creates a user of an identity provider at the user pool, without a password that anyone knows and without a mail.
 * @returns the user's subject
 */
export const createAtPool = async (userPool: Pick<UserPool, 'createSilentUser' | 'renewUser'>, email: string): Promise<string> => {
  const { subject, isNew } = await userPool.createSilentUser(email);
  if (isNew) return subject;
  // An earlier creation or deletion crashed and left this user behind: end their sessions, second factor and password.
  // The end has every kind of character that a pool can require.
  await userPool.renewUser({ email, subject, temporaryPassword: `${randomBytes(PASSWORD_BYTES).toString('base64url')}-aA7` });
  await userPool.createSilentUser(email);
  return subject;
};
