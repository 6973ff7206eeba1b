import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { callerOf, originOf } from '../access/origin.ts';
import type { SignedIn } from '../access/route.ts';
import { missingToken, wrongToken } from '../identity/errors.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { userIdOf } from '../users/user.ts';
import type { StoredUser, UserStore } from '../users/user-store.ts';

const MS = 1_000;

/** The access token of a request. @throws 401 */
const presentedToken = (event: ApiEvent): string => {
  const [, token] = /^Bearer +(\S+)\s*$/i.exec(headerOf(event, 'authorization') ?? '') ?? [];
  if (!token) throw missingToken();
  return token;
};

/** The user of a request, with the row that proves it and the access token. */
export interface SignedInUser extends SignedIn {
  user: StoredUser;
  accessToken: string;
}

/** The user of a request as of now, by the token and one read: a user who is disabled or deleted is rejected at once. @throws 401 */
export const authenticate = async (
  { tokens, users }: { tokens: TokenVerifier; users: UserStore },
  event: ApiEvent,
): Promise<SignedInUser> => {
  const accessToken = presentedToken(event);
  const { issuer, subject, issuedAtMs } = await tokens.verify(accessToken);
  const user = await users.get(userIdOf(issuer, subject));
  if (user?.status !== 'active' || issuedAtMs < user.tokens_valid_from * MS) throw wrongToken();
  const { id: userId, email, role, organization } = user;
  return { actor: { userId, email, role, organization, origin: originOf(callerOf(event), user) }, user, accessToken };
};
