import { ApiError } from '../../../shared/http/errors.ts';

/** 401 for a refresh token that is invalid, revoked or expired. */
export class RefreshRefused extends ApiError {
  constructor() {
    super({
      status: 401,
      type: 'authentication_error',
      code: 'refresh_refused',
      message: 'The refresh token is invalid, revoked or expired. Log in again.',
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
}
