import type { Role } from '../../../shared/hosts/permissions.ts';
import { permissionsOfServiceAccount } from '../../../shared/hosts/permissions.ts';
import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { missingToken, wrongToken } from '../../../shared/identity/errors.ts';
import { callerOf, originOf } from '../../../shared/identity/request-origin.ts';
import { isAccepted, type StoredSession } from '../../../shared/identity/session-store.ts';
import { userIdOf } from '../../../shared/identity/user.ts';
import type { StoredUser, UserStore } from '../../../shared/identity/user-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { SignedIn } from '../access/route.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';

// They can change everybody's money and rights.
const NEED_SECOND_FACTOR: readonly Role[] = ['admin', 'platform_billing'];

const presentedToken = (event: ApiEvent): string => {
  const [, token] = /^Bearer +(\S+)\s*$/i.exec(headerOf(event, 'authorization') ?? '') ?? [];
  if (!token) throw missingToken();
  return token;
};

/** The authenticated user, with their stored row and access token. */
export interface SignedInUser extends SignedIn {
  user: StoredUser;
  accessToken: string;
  /** The time of the login, in Unix seconds. */
  authenticatedAt: number;
  /** undefined if the token doesn't say it. */
  sessionId: string | undefined;
  /** undefined for a login through another release, and for service accounts. */
  session: StoredSession | undefined;
}

/**
 * Returns the user who sent a request. The user and the session are read each time, with one call: disabling or
 * deleting a user, and ending a session, take effect at once. @throws 401
 */
export const authenticate = async (
  { tokens, users, now }: { tokens: TokenVerifier; users: UserStore; now: () => number },
  event: ApiEvent,
): Promise<SignedInUser> => {
  const accessToken = presentedToken(event);
  const { issuer, subject, issuedAtMs, authenticatedAtMs, sessionId, client } = await tokens.verify(accessToken);
  const { user, session, floor } = await users.getSignedIn(userIdOf(issuer, subject), sessionId);
  if (user?.status !== 'active' || issuedAtMs < user.tokens_valid_from * SECOND_MS) throw wrongToken();
  const authenticatedAt = authenticatedAtMs / SECOND_MS;
  if (!isAccepted({ client, authenticatedAt }, { session, floor }, now() / SECOND_MS)) throw wrongToken();
  const { id: userId, email, role, organization, max_api_keys: maxApiKeys, second_factor: secondFactor = 'off', kind, permissions } = user;
  const lacksSecondFactor = kind === undefined && NEED_SECOND_FACTOR.includes(role) && secondFactor === 'off';
  const actor: Actor = {
    userId,
    email,
    role,
    organization,
    maxApiKeys,
    origin: originOf(callerOf(event), user),
    ...(kind && { kind }),
    ...(kind && { permissions: permissionsOfServiceAccount(role, permissions) }),
    ...(lacksSecondFactor && { lacksSecondFactor }),
  };
  const hasSecondFactor = session?.proof.startsWith('sso:') ? session.second_factor : secondFactor !== 'off';
  return {
    actor,
    user,
    accessToken,
    authenticatedAt,
    sessionId,
    session,
    provedAt: session?.proved_at ?? authenticatedAt,
    ...(kind !== 'service_account' && { hasSecondFactor }),
  };
};
