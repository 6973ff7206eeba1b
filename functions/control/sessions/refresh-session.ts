import type { Caller } from '../../../shared/identity/request-origin.ts';
import type { SessionDependencies } from '../../../shared/identity/sessions.ts';
import { RefreshRefused } from './errors.ts';
import type { Refreshed } from './session.ts';

/** Returns a new access token. @throws 401, 429 */
export const refreshSession = async (deps: SessionDependencies, caller: Caller, refreshToken: string): Promise<Refreshed> => {
  await deps.attempts.count({ kind: 'refresh', ipAddress: caller.ipAddress }, caller.receivedAtMs);
  const tokens = await deps.userPool.refresh({ refreshToken, caller });
  if (!tokens) throw new RefreshRefused();
  return { object: 'session', access_token: tokens.accessToken, token_type: 'Bearer', expires_in: tokens.expiresInSeconds };
};

/** Revokes a refresh token; does nothing if it is invalid. @throws 429 */
export const endSession = async (
  { attempts, userPool }: SessionDependencies,
  { ipAddress, receivedAtMs }: Caller,
  refreshToken: string,
): Promise<void> => {
  await attempts.count({ kind: 'refresh', ipAddress }, receivedAtMs);
  await userPool.revoke(refreshToken);
};
