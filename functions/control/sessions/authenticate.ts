import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import type { Actor } from '../access/actor.ts';
import type { ControlDependencies } from '../dependencies.ts';
import { missingToken, wrongToken } from '../identity/errors.ts';
import { userIdOf } from '../users/user.ts';
import type { StoredUser } from '../users/user-store.ts';

const MS = 1_000;

/** The access token of a request. @throws 401 */
export const presentedToken = (event: ApiEvent): string => {
  const [, token] = /^Bearer +(\S+)\s*$/i.exec(headerOf(event, 'authorization') ?? '') ?? [];
  if (!token) throw missingToken();
  return token;
};

export const ipAddressOf = ({ requestContext }: ApiEvent): string => requestContext.identity?.sourceIp ?? 'unknown';

/** The user of a request as of now, by the token and one read: who is disabled or deleted is refused at once. @throws 401 */
export const authenticate = async (
  { tokens, users }: Pick<ControlDependencies, 'tokens' | 'users'>,
  event: ApiEvent,
): Promise<{ actor: Actor; user: StoredUser; accessToken: string }> => {
  const accessToken = presentedToken(event);
  const { issuer, subject, issuedAtMs } = await tokens.verify(accessToken);
  const user = await users.get(userIdOf(issuer, subject));
  if (user?.status !== 'active' || issuedAtMs < user.tokens_valid_from * MS) throw wrongToken();
  const { id: userId, email, role, organization } = user;
  const origin = {
    actor: { type: 'user' as const, id: userId, email, organization },
    requestId: event.requestId,
    ipAddress: ipAddressOf(event),
    nowMs: event.receivedAtMs,
  };
  return { actor: { userId, email, role, organization, origin }, user, accessToken };
};
