import { ApiError, InvalidRequest, ServiceUnavailable } from '../../../shared/http/errors.ts';

/** The user pool's rule, which is also what the message of WeakPassword says. */
export const MIN_PASSWORD_LENGTH = 12;

/** A new password that the user pool does not take: 400. */
export class WeakPassword extends InvalidRequest {
  /** @param param the field that has the password */
  constructor(param: string) {
    super({
      code: 'weak_password',
      param,
      message: `The password is too weak. It needs at least ${MIN_PASSWORD_LENGTH} characters with lower and upper case letters, a digit and a symbol.`,
    });
  }
}

const RETRY_AFTER_SECONDS = 60;

/** The user pool has had too many attempts, by this user or by all: 429. */
export class TooManyAttempts extends ApiError {
  constructor(retryAfterSeconds = RETRY_AFTER_SECONDS) {
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `There were too many attempts. Try again in ${retryAfterSeconds} seconds.`,
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
}

/** The user pool, or the keys that tokens are checked with, could not be reached: 503. The cause is for the log. */
export class IdentityUnavailable extends ServiceUnavailable {
  constructor(cause: unknown) {
    super();
    this.cause = cause;
  }
}

/** An access token that does not open: 401. */
export class InvalidToken extends ApiError {
  constructor({ code, message }: { code: 'invalid_token' | 'token_expired'; message: string }) {
    super({ status: 401, type: 'authentication_error', code, message, headers: { 'www-authenticate': 'Bearer' } });
  }
}

/** One text for every token that is not ours, whatever is wrong with it. */
export const wrongToken = (): InvalidToken =>
  new InvalidToken({ code: 'invalid_token', message: 'The access token is not valid. Log in again.' });

export const expiredToken = (): InvalidToken =>
  new InvalidToken({ code: 'token_expired', message: 'The access token has expired. Log in again, or refresh it.' });

export const missingToken = (): InvalidToken =>
  new InvalidToken({
    code: 'invalid_token',
    message:
      "No access token was sent. Log in with POST /v1/auth/login, and send its access token in the header 'Authorization: Bearer <token>'.",
  });
