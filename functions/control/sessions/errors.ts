import { ApiError } from '../../../shared/http/errors.ts';

/** 401: one text for every login that fails, whatever was wrong. */
export class LoginRefused extends ApiError {
  constructor() {
    super({
      status: 401,
      type: 'authentication_error',
      code: 'login_refused',
      message:
        'The login was refused. Check the e-mail address and the password, or start the login again where it took longer than three minutes.',
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
}

/** 401 for a refresh token that opens no session any more. */
export class RefreshRefused extends ApiError {
  constructor() {
    super({
      status: 401,
      type: 'authentication_error',
      code: 'refresh_refused',
      message: 'The refresh token is not valid, or was revoked, or has expired. Log in again.',
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
}
