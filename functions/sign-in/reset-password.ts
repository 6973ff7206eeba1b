import { InvalidRequest } from '../../shared/http/errors.ts';
import { AUTH_PATHS } from '../../shared/identity/auth-paths.ts';
import { type Caller, originOf } from '../../shared/identity/request-origin.ts';
import { endAllSessions, recordAction, type SessionDependencies } from '../../shared/identity/sessions.ts';
import { userOf, waitForRefusalTime } from './log-in.ts';
import type { ResetRequests } from './reset-mails.ts';

const wrongCode = (): InvalidRequest =>
  new InvalidRequest({ param: 'code', message: `The code is incorrect or has expired. Request a new one with POST ${AUTH_PATHS.forgot}.` });

export interface ResetDependencies extends SessionDependencies {
  resetRequests: ResetRequests;
}

/**
 * Requests a code for the user with this address. Effects and duration are the same if no user has it.
 * @throws 429, 503
 */
export const startReset = async (deps: ResetDependencies, caller: Caller, email: string): Promise<void> => {
  await deps.attempts.count({ kind: 'forgot', ipAddress: caller.ipAddress, account: email }, caller.receivedAtMs);
  await deps.resetRequests.add(email);
};

/**
 * Sets a password with an emailed code and ends all sessions of the user. @throws 400 for a wrong code or a weak
 * password, 429
 */
export const finishReset = async (
  deps: SessionDependencies,
  caller: Caller,
  { email, code, password }: { email: string; code: string; password: string },
): Promise<void> => {
  const attempt = { kind: 'reset', ipAddress: caller.ipAddress, account: email } as const;
  await deps.attempts.count(attempt, caller.receivedAtMs);
  const isDone = await deps.userPool.finishReset({ email, code, password });
  if (!isDone) {
    await waitForRefusalTime(deps, caller);
    throw wrongCode();
  }
  const user = await userOf(deps, email);
  if (user) {
    await endAllSessions(deps, user);
    await recordAction(deps, originOf(caller, user), user, 'user.password_reset');
  }
  await deps.attempts.forget(attempt, caller.receivedAtMs);
};
