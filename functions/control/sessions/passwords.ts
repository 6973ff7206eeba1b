import { InvalidRequest } from '../../../shared/http/errors.ts';
import { endAllSessions, recordAction, type SessionDependencies } from '../../../shared/identity/sessions.ts';
import type { Actor } from '../access/actor.ts';
import type { SignedInUser } from './authenticate.ts';

const invalidField = (param: string, message: string): InvalidRequest => new InvalidRequest({ param, message });

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

export const wrongPassword = (): InvalidRequest =>
  invalidField('current_password', 'The current password is incorrect. Enter the password you log in with.');

/**
 * Changes the actor's own password and ends all their sessions. @throws 400 for a wrong current or a weak new
 * password, 429
 */
export const changePassword = async (
  deps: SessionDependencies,
  { actor, user, accessToken }: Pick<SignedInUser, 'actor' | 'user' | 'accessToken'>,
  { current, next }: { current: string; next: string },
): Promise<void> => {
  const run = () => deps.userPool.changePassword({ accessToken, current, next });
  await checkIdentity(deps, actor, { kind: 'password', run, error: wrongPassword() });
  await endAllSessions(deps, user);
  await recordAction(deps, actor.origin, user, 'user.password_changed');
};
