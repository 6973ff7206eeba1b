import { ApiError, Forbidden, InvalidRequest, ServiceUnavailable } from '../http/errors.ts';
import { AUTH_PATHS } from './auth-paths.ts';

/** The user pool's rule, which the message of WeakPassword also states. */
export const MIN_PASSWORD_LENGTH = 12;

/** 400 for a new password that the user pool rejects. */
export class WeakPassword extends InvalidRequest {
  /** @param param the field with the password */
  constructor(param: string) {
    super({
      code: 'weak_password',
      param,
      message: `Password too weak. Use at least ${MIN_PASSWORD_LENGTH} characters with upper and lower case letters, a digit and a symbol.`,
    });
  }
}

const RETRY_AFTER_SECONDS = 60;

/** 429 for too many attempts, by this user or by all users. */
export class TooManyAttempts extends ApiError {
  constructor(retryAfterSeconds = RETRY_AFTER_SECONDS) {
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `Too many attempts. Try again in ${retryAfterSeconds} seconds.`,
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
}

/** 503 if the user pool or the token issuer's keys could not be reached. The cause is for the log. */
export class IdentityUnavailable extends ServiceUnavailable {}

/** 401 for an access token that is not accepted. */
export class InvalidToken extends ApiError {
  constructor({ code, message }: { code: 'invalid_token' | 'token_expired'; message: string }) {
    super({ status: 401, type: 'authentication_error', code, message, headers: { 'www-authenticate': 'Bearer' } });
  }
}

/** Returns the same error for every invalid token. */
export const wrongToken = (): InvalidToken =>
  new InvalidToken({ code: 'invalid_token', message: 'The access token is invalid. Log in again.' });

export const expiredToken = (): InvalidToken =>
  new InvalidToken({ code: 'token_expired', message: 'The access token has expired. Log in again, or refresh it.' });

export const missingToken = (): InvalidToken =>
  new InvalidToken({
    code: 'invalid_token',
    message: `Missing access token. Log in with POST ${AUTH_PATHS.login} and send the token in the header 'Authorization: Bearer <token>'.`,
  });

/** The actor lost their role or was disabled after their request had been authorized: 403. */
export class RightsChanged extends Forbidden {
  constructor() {
    super({
      code: 'rights_changed',
      message:
        'Your role or status changed while this request was handled, so nothing was changed. Log in again, or ask an owner or an admin.',
    });
  }
}
