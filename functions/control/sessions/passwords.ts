import { InvalidRequest } from '../../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { type Caller, originOf } from '../../../shared/identity/request-origin.ts';
import type { Actor } from '../access/actor.ts';
import { endAllSessions } from '../users/end-sessions.ts';
import type { SignedInUser } from './authenticate.ts';
import { recordAction, type SessionDependencies, userOf, waitForResetTime } from './log-in.ts';

const invalidField = (param: string, message: string): InvalidRequest => new InvalidRequest({ param, message });

/** A check that the user of a session is who they claim to be. */
interface IdentityCheck<Result> {
  kind: 'password' | 'totp';
  /** Calls the identity provider; undefined or false if the password or code is wrong. */
  run: () => Promise<Result>;
  error: InvalidRequest;
}

/** Checks who the actor is, with a limited number of attempts. @throws the error of the check, 429 */
export const checkIdentity = async <Result>(
  { attempts }: SessionDependencies,
  { userId, origin: { nowMs, ipAddress } }: Actor,
  { kind, run, error }: IdentityCheck<Result>,
): Promise<NonNullable<Result>> => {
  const attempt = { kind, ipAddress: ipAddress ?? '', account: userId };
  await attempts.count(attempt, nowMs);
  const result = await run();
  if (!result) throw error;
  await attempts.forget(attempt, nowMs);
  return result;
};

export const wrongPassword = (): InvalidRequest => invalidField('current_password', 'The current password is incorrect.');

/** Changes the actor's own password and ends all their sessions. @throws 400 for a wrong current or a weak new password, 429 */
export const changePassword = async (
  deps: SessionDependencies,
  { actor, user, accessToken }: SignedInUser,
  { current, next }: { current: string; next: string },
): Promise<void> => {
  const run = () => deps.userPool.changePassword({ accessToken, current, next });
  await checkIdentity(deps, actor, { kind: 'password', run, error: wrongPassword() });
  await endAllSessions(deps, user);
  await recordAction(deps, actor.origin, user, 'user.password_changed');
};

/** E-mails a code to the user with this address, if one exists. The reply and its timing are the same either way. @throws 429 */
export const startReset = async (deps: SessionDependencies, caller: Caller, email: string): Promise<void> => {
  await deps.attempts.count({ kind: 'forgot', ipAddress: caller.ipAddress, account: email }, caller.receivedAtMs);
  await deps.userPool.startReset(email);
  await waitForResetTime(deps, caller);
};

/** Sets a password with an e-mailed code and ends all sessions of the user. @throws 400 for a wrong code or a weak password, 429 */
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
  await waitForResetTime(deps, caller);
  if (!isDone) throw invalidField('code', `The code is incorrect or has expired. Request a new one with POST ${AUTH_PATHS.forgot}.`);
  await deps.attempts.forget(attempt, caller.receivedAtMs);
};
