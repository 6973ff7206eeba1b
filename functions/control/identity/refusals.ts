import { expiredToken, IdentityUnavailable, TooManyAttempts, WeakPassword, wrongToken } from './errors.ts';

const FIRST_SERVER_STATUS = 500;

const WEAK = ['InvalidPasswordException', 'PasswordHistoryPolicyViolationException'];
/** Of a password with spaces at its ends, for one; what else is given was checked before. */
const INVALID = 'InvalidParameterException';
const TOO_MANY = ['TooManyRequestsException', 'LimitExceededException', 'TooManyFailedAttemptsException', 'ThrottlingException'];
// https://docs.aws.amazon.com/cognito/latest/developerguide/authentication.html#authentication-flow-lockout-behavior
const LOCKED_OUT = 'Password attempts exceeded';

/** What stands for: this name and password, or token, open nothing. */
export const REFUSALS = ['NotAuthorizedException', 'UserNotFoundException', 'UserNotConfirmedException', 'PasswordResetRequiredException'];

/** A wrong or old code; a code or a session of a form that there is not is a wrong one, too. */
export const WRONG_CODES = ['CodeMismatchException', 'ExpiredCodeException', 'InvalidParameterException'];

/**
 * The result of a call to the user pool, or undefined when it ends with one of these exceptions.
 * @param passwordField the field that WeakPassword names
 * @throws WeakPassword, TooManyAttempts, IdentityUnavailable, InvalidToken; anything else is our bug, told by name alone
 */
export const orElse = async <Result>(
  call: () => Promise<Result>,
  refusals: readonly string[],
  passwordField = 'new_password',
): Promise<Result | undefined> => {
  try {
    return await call();
  } catch (error) {
    const { name, message } = error as Error;
    if (WEAK.includes(name) || (name === INVALID && passwordField === 'temporary_password')) throw new WeakPassword(passwordField);
    // Who is locked out is there: it is told as any other refusal.
    if ((message === LOCKED_OUT || name === 'LimitExceededException') && refusals.includes(name)) return undefined;
    if (TOO_MANY.includes(name) || message === LOCKED_OUT) throw new TooManyAttempts();
    if (isOutage(error)) throw new IdentityUnavailable(error);
    if (name === 'NotAuthorizedException' && /access token/i.test(message)) throw /expired/i.test(message) ? expiredToken() : wrongToken();
    if (refusals.includes(name)) return undefined;
    // Its message may quote what it was given.
    throw new Error(`The user pool has refused a call: ${name}.`);
  }
};

/** Whether a call was not ended by one of these exceptions; throws as orElse does. */
export const isDone = async (call: () => Promise<object>, refusals: readonly string[]): Promise<boolean> =>
  (await orElse(call, refusals)) !== undefined;

/** Whether a call that was sent has had no answer, or one that speaks of the pool's state and not of the call. */
const isOutage = (error: unknown): boolean => {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return $metadata !== undefined && ($metadata.httpStatusCode ?? FIRST_SERVER_STATUS) >= FIRST_SERVER_STATUS;
};
