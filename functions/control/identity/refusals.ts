import { expiredToken, IdentityUnavailable, TooManyAttempts, WeakPassword, wrongToken } from './errors.ts';

const FIRST_SERVER_STATUS = 500;

const WEAK = ['InvalidPasswordException', 'PasswordHistoryPolicyViolationException'];
/** For example for a password with spaces at its ends; other input was checked before. */
const INVALID = 'InvalidParameterException';
const TOO_MANY = ['TooManyRequestsException', 'LimitExceededException', 'TooManyFailedAttemptsException', 'ThrottlingException'];
// https://docs.aws.amazon.com/cognito/latest/developerguide/authentication.html#authentication-flow-lockout-behavior
const LOCKED_OUT = 'Password attempts exceeded';

/** Exceptions that mean that a name and password, or a token, are not valid. */
export const REFUSALS = ['NotAuthorizedException', 'UserNotFoundException', 'UserNotConfirmedException', 'PasswordResetRequiredException'];

/** Exceptions that mean a wrong or expired code, or a malformed code or session. */
export const WRONG_CODES = ['CodeMismatchException', 'ExpiredCodeException', 'InvalidParameterException'];

/**
 * The result of a call to the user pool, or undefined when it ends with one of these exceptions.
 * @param passwordField the field that WeakPassword names
 * @throws WeakPassword, TooManyAttempts, IdentityUnavailable, InvalidToken; anything else is our bug, reported by name alone
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
    // A lockout would reveal that the user exists, so it is reported like any other refusal.
    if ((message === LOCKED_OUT || name === 'LimitExceededException') && refusals.includes(name)) return undefined;
    if (TOO_MANY.includes(name) || message === LOCKED_OUT) throw new TooManyAttempts();
    if (isOutage(error)) throw new IdentityUnavailable(error);
    if (name === 'NotAuthorizedException' && /access token/i.test(message)) throw /expired/i.test(message) ? expiredToken() : wrongToken();
    if (refusals.includes(name)) return undefined;
    // Its message may quote what it was given.
    throw new Error(`The user pool has refused a call: ${name}.`);
  }
};

/** Whether a call succeeded, rather than ended with one of these exceptions; throws as orElse does. */
export const isDone = async (call: () => Promise<object>, refusals: readonly string[]): Promise<boolean> =>
  (await orElse(call, refusals)) !== undefined;

/** Whether a call got no answer, or one about the pool's state rather than about the call. */
const isOutage = (error: unknown): boolean => {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return $metadata !== undefined && ($metadata.httpStatusCode ?? FIRST_SERVER_STATUS) >= FIRST_SERVER_STATUS;
};
