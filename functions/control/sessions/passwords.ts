import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { Actor } from '../access/actor.ts';
import { type Caller, originOf } from '../access/origin.ts';
import { endAllSessions } from '../users/end-sessions.ts';
import type { SignedInUser } from './authenticate.ts';
import { recordAction, type SessionDependencies, untilReset, userOf } from './log-in.ts';

const wrong = (param: string, message: string): InvalidRequest => new InvalidRequest({ param, message });

/** What proves that the user of a session is who they are. */
interface Proof<Proven> {
  kind: 'password' | 'totp';
  /** Asks the identity provider; undefined or false where the proof is wrong. */
  prove: () => Promise<Proven>;
  refusal: InvalidRequest;
}

/** The proof of who the actor is; attempts are limited. @throws the refusal, 429 */
export const proven = async <Proven>(
  { attempts }: SessionDependencies,
  { userId, origin: { nowMs, ipAddress } }: Actor,
  { kind, prove, refusal }: Proof<Proven>,
): Promise<NonNullable<Proven>> => {
  const attempt = { kind, ipAddress: ipAddress ?? '', account: userId };
  await attempts.count(attempt, nowMs);
  const answer = await prove();
  if (!answer) throw refusal;
  await attempts.forget(attempt, nowMs);
  return answer;
};

const wrongPassword = (): InvalidRequest => wrong('current_password', 'The current password is not that.');

/** Makes sure that the actor knows the password, and not only has a token, because the change outlives the token. @throws 400, 429 */
export const checkPassword = async (
  deps: SessionDependencies,
  { actor, caller, password }: { actor: Actor; caller: Caller; password: string },
): Promise<void> => {
  const prove = () => deps.userPool.signIn({ email: actor.email, password, caller });
  const answer = await proven(deps, actor, { kind: 'password', prove, refusal: wrongPassword() });
  if ('tokens' in answer) await deps.userPool.revoke(answer.tokens.refreshToken);
};

/** Changes the actor's own password, and ends all their sessions. @throws 400 for a wrong or a weak one, 429 */
export const changePassword = async (
  deps: SessionDependencies,
  { actor, user, accessToken }: SignedInUser,
  { current, next }: { current: string; next: string },
): Promise<void> => {
  const prove = () => deps.userPool.changePassword({ accessToken, current, next });
  await proven(deps, actor, { kind: 'password', prove, refusal: wrongPassword() });
  await endAllSessions(deps, user);
  await recordAction(deps, actor.origin, user, 'user.password_changed');
};

/** E-mails a code to the user with this address, if there is one. The reply and its time are the same either way. @throws 429 */
export const startReset = async (deps: SessionDependencies, caller: Caller, email: string): Promise<void> => {
  await deps.attempts.count({ kind: 'forgot', ipAddress: caller.ipAddress, account: email }, caller.receivedAtMs);
  await deps.userPool.startReset(email);
  await untilReset(deps, caller);
};

/** Sets a password with the code of an e-mail, and ends all sessions of the user. @throws 400 for a wrong code or a weak password, 429 */
export const finishReset = async (
  deps: SessionDependencies,
  caller: Caller,
  { email, code, password }: { email: string; code: string; password: string },
): Promise<void> => {
  const attempt = { kind: 'reset', ipAddress: caller.ipAddress, account: email } as const;
  await deps.attempts.count(attempt, caller.receivedAtMs);
  const isDone = await deps.userPool.finishReset({ email, code, password });
  const user = isDone ? await userOf(deps, email) : undefined;
  if (user) {
    await endAllSessions(deps, user);
    await recordAction(deps, originOf(caller, user), user, 'user.password_reset');
  }
  await untilReset(deps, caller);
  if (!isDone) throw wrong('code', 'The code is not right, or too old. Ask for a new one with POST /v1/auth/forgot.');
  await deps.attempts.forget(attempt, caller.receivedAtMs);
};
