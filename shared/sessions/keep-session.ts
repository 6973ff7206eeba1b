import { commit } from '../audit/commit.ts';
import { InvalidRequest } from '../http/errors.ts';
import type { Actor } from '../users/actor.ts';
import { RefreshRefused } from './errors.ts';
import type { Caller, SessionDependencies } from './log-in.ts';
import type { Refreshed, TotpSecret } from './session.ts';

/** A new access token. @throws 401 */
export const refreshSession = async ({ userPool }: SessionDependencies, caller: Caller, refreshToken: string): Promise<Refreshed> => {
  const tokens = await userPool.refresh({ refreshToken, caller });
  if (!tokens) throw new RefreshRefused();
  return { object: 'session', access_token: tokens.accessToken, token_type: 'Bearer', expires_in: tokens.expiresInSeconds };
};

const note = (deps: SessionDependencies, { userId, organization, origin }: Actor, action: string): Promise<void> =>
  commit(deps, origin, { action, organization, target: { type: 'user', id: userId } }, []);

const wrong = (param: string, message: string): InvalidRequest => new InvalidRequest({ param, message });

/** Changes the actor's own password. @throws 400 for a wrong or a weak one, 429 */
export const changePassword = async (
  deps: SessionDependencies,
  actor: Actor,
  accessToken: string,
  { current, next }: { current: string; next: string },
): Promise<void> => {
  const { nowMs, ipAddress } = actor.origin;
  const attempt = { kind: 'password', ipAddress: ipAddress ?? '', account: actor.userId } as const;
  await deps.attempts.count(attempt, nowMs);
  if (!(await deps.userPool.changePassword({ accessToken, current, next })))
    throw wrong('current_password', 'The current password is not that.');
  await deps.attempts.forget(attempt, nowMs);
  await note(deps, actor, 'user.password_changed');
};

/** Has a code e-mailed to the user with this address, if there is one; the answer is the same. @throws 429 */
export const startReset = async (deps: SessionDependencies, { ipAddress, receivedAtMs }: Caller, email: string): Promise<void> => {
  await deps.attempts.count({ kind: 'forgot', ipAddress, account: email }, receivedAtMs);
  await deps.userPool.startReset(email);
};

/** Sets a password by the code of an e-mail. @throws 400 for a wrong code or a weak password, 429 */
export const finishReset = async (
  deps: SessionDependencies,
  { ipAddress, receivedAtMs }: Caller,
  { email, code, password }: { email: string; code: string; password: string },
): Promise<void> => {
  const attempt = { kind: 'reset', ipAddress, account: email } as const;
  await deps.attempts.count(attempt, receivedAtMs);
  if (!(await deps.userPool.finishReset({ email, code, password })))
    throw wrong('code', 'The code is not right, or too old. Ask for a new one with POST /v1/auth/forgot.');
  await deps.attempts.forget(attempt, receivedAtMs);
};

/** The secret for an authenticator app; a first code of it switches it on. */
export const startTotp = async ({ userPool }: SessionDependencies, { email }: Actor, accessToken: string): Promise<TotpSecret> => {
  const { secret } = await userPool.startTotp(accessToken);
  return { object: 'totp_secret', secret, url: `otpauth://totp/Sluice:${encodeURIComponent(email)}?secret=${secret}&issuer=Sluice` };
};

/** Switches the second factor on. @throws 400, 429 */
export const finishTotp = async (deps: SessionDependencies, actor: Actor, accessToken: string, code: string): Promise<void> => {
  const { nowMs, ipAddress } = actor.origin;
  const attempt = { kind: 'totp', ipAddress: ipAddress ?? '', account: actor.userId } as const;
  await deps.attempts.count(attempt, nowMs);
  if (!(await deps.userPool.finishTotp({ accessToken, code })))
    throw wrong('code', 'The code is not right. Send the one that the app shows now.');
  await deps.attempts.forget(attempt, nowMs);
  await note(deps, actor, 'user.totp_enabled');
};

/** Switches it off. */
export const stopTotp = async (deps: SessionDependencies, actor: Actor, subject: string): Promise<void> => {
  await deps.userPool.stopTotp(subject);
  await note(deps, actor, 'user.totp_disabled');
};
