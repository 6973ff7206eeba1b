import { expiredToken, IdentityUnavailable, TooManyAttempts, WeakPassword, wrongToken } from './errors.ts';

const FIRST_SERVER_STATUS = 500;

const WEAK = ['InvalidPasswordException', 'PasswordHistoryPolicyViolationException'];
// Thrown for example for a password with leading or trailing spaces. Other input was validated before.
const INVALID = 'InvalidParameterException';
const TOO_MANY = ['TooManyRequestsException', 'LimitExceededException', 'TooManyFailedAttemptsException', 'ThrottlingException'];
// The function that checks tickets failed, or could not be called in time.
const TRIGGER_FAILED = ['UserLambdaValidationException', 'UnexpectedLambdaException', 'InvalidLambdaResponseException'];
// https://docs.aws.amazon.com/cognito/latest/developerguide/authentication.html#authentication-flow-lockout-behavior
const LOCKED_OUT = 'Password attempts exceeded';

/** Exceptions for an invalid user name, password or token. */
export const INVALID_CREDENTIALS = [
  'NotAuthorizedException',
  'UserNotFoundException',
  'UserNotConfirmedException',
  'PasswordResetRequiredException',
];

/** Exceptions for a wrong or expired code, or a malformed code or session. */
export const WRONG_CODES = ['CodeMismatchException', 'ExpiredCodeException', 'InvalidParameterException'];

/**
 * Returns the result of a call to the user pool, or undefined if it throws one of the expected exceptions.
 * @param passwordField the `param` of WeakPassword
 * @throws WeakPassword, TooManyAttempts, IdentityUnavailable, InvalidToken; anything else is our bug, and only its name
 * is thrown
 */
export const orElse = async <Result>(
  call: () => Promise<Result>,
  expected: readonly string[],
  passwordField = 'new_password',
): Promise<Result | undefined> => {
  try {
    return await call();
  } catch (error) {
    const { name, message } = error as Error;
    if (WEAK.includes(name) || (name === INVALID && passwordField === 'temporary_password')) throw new WeakPassword(passwordField);
    // A lockout would reveal that the user exists, so it is treated like invalid credentials.
    if ((message === LOCKED_OUT || name === 'LimitExceededException') && expected.includes(name)) return undefined;
    if (TOO_MANY.includes(name) || message === LOCKED_OUT) throw new TooManyAttempts();
    if (isOutage(error) || TRIGGER_FAILED.includes(name)) throw new IdentityUnavailable(error);
    if (name === 'NotAuthorizedException' && /access token/i.test(message)) throw /expired/i.test(message) ? expiredToken() : wrongToken();
    if (expected.includes(name)) return undefined;
    // The message may quote the input.
    throw new Error(`The user pool rejected a call: ${name}.`);
  }
};

/** Returns true if a call succeeded, and false for one of the expected exceptions. @throws as orElse does */
export const isDone = async (call: () => Promise<object>, expected: readonly string[]): Promise<boolean> =>
  (await orElse(call, expected)) !== undefined;

const isOutage = (error: unknown): boolean => {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return $metadata !== undefined && ($metadata.httpStatusCode ?? FIRST_SERVER_STATUS) >= FIRST_SERVER_STATUS;
};
