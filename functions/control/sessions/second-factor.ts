import { Forbidden, InvalidRequest } from '../../../shared/http/errors.ts';
import { type Actor, requireRole } from '../access/actor.ts';
import { visibleUser } from '../users/update-user.ts';
import type { StoredUser } from '../users/user-store.ts';
import { checkPassword, endAllSessions, proven } from './keep-session.ts';
import { type Caller, note, type SessionDependencies } from './log-in.ts';
import type { TotpSecret } from './session.ts';

/** Who asks: with a token, and with a password. */
interface Asking {
  actor: Actor;
  caller: Caller;
  password: string;
}

const accountOf = ({ userId, organization }: Actor) => ({ id: userId, organization });

/** The secret for an authenticator app; a first code of it switches it on. @throws 400 for a wrong password, 429 */
export const startTotp = async (deps: SessionDependencies, asking: Asking, accessToken: string): Promise<TotpSecret> => {
  await checkPassword(deps, asking);
  const { secret } = await deps.userPool.startTotp(accessToken);
  const name = encodeURIComponent(asking.actor.email);
  return { object: 'totp_secret', secret, url: `otpauth://totp/Sluice:${name}?secret=${secret}&issuer=Sluice` };
};

/** Switches the second factor on. @throws 400, 429 */
export const finishTotp = async (deps: SessionDependencies, actor: Actor, accessToken: string, code: string): Promise<void> => {
  const refusal = new InvalidRequest({ param: 'code', message: 'The code is not right. Send the one that the app shows now.' });
  await proven(deps, actor, { kind: 'totp', prove: () => deps.userPool.finishTotp({ accessToken, code }), refusal });
  await note(deps, actor.origin, accountOf(actor), 'user.totp_enabled');
};

/** Switches it off. @throws 400 for a wrong password, 429 */
export const stopTotp = async (deps: SessionDependencies, asking: Asking, subject: string): Promise<void> => {
  await checkPassword(deps, asking);
  await deps.userPool.stopTotp(subject);
  await note(deps, asking.actor.origin, accountOf(asking.actor), 'user.totp_disabled');
};

/** Takes a second factor away from a user who has lost theirs, and ends their sessions. @throws 403, 404 */
export const resetTotp = async (deps: SessionDependencies, actor: Actor, id: string): Promise<void> => {
  requireRole(actor, 'owner');
  if (id === actor.userId)
    throw new Forbidden({
      code: 'own_rights',
      message: 'Your own second factor is switched off with your password, at POST /v1/auth/totp/disable.',
    });
  const user: StoredUser = await visibleUser(deps, actor, id);
  await deps.userPool.stopTotp(user.subject);
  await endAllSessions(deps, user);
  await note(deps, actor.origin, user, 'user.totp_reset');
};
