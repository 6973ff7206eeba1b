import { newTimedId } from '../ids/id.ts';
import type { UserStore } from './user-store.ts';

/**
 * Creates a user with an address that no other request can use meanwhile. If that fails, the address is free again.
 * @param create called with the claim that the transaction of the creation must require
 * @throws what `create` throws; 409 if the address is in use
 */
export const withClaimedEmail = async <T>(
  users: Pick<UserStore, 'claimEmail' | 'releaseEmail'>,
  { email, nowMs }: { email: string; nowMs: number },
  create: (claim: string) => Promise<T>,
): Promise<T> => {
  const claim = newTimedId('event', nowMs);
  await users.claimEmail(email, claim, nowMs);
  try {
    return await create(claim);
  } catch (error) {
    // Safe even if the transaction commits late, because it requires the claim.
    await users.releaseEmail(email, claim);
    throw error;
  }
};
