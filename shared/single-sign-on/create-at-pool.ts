import { randomPassword, type UserPool } from '../identity/user-pool.ts';

/**
 * Creates a user of an identity provider at the user pool, without a password that anyone knows and without a mail.
 * @returns the user's subject
 */
export const createAtPool = async (userPool: Pick<UserPool, 'createSilentUser' | 'renewUser'>, email: string): Promise<string> => {
  const { subject, isNew } = await userPool.createSilentUser(email);
  if (isNew) return subject;
  // An earlier creation or deletion crashed and left this user behind: end their sessions, second factor and password.
  await userPool.renewUser({ email, subject, temporaryPassword: randomPassword() });
  await userPool.createSilentUser(email);
  return subject;
};
