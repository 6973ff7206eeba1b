import { ApiError } from '../../shared/http/errors.ts';

/** 401 for every failed login, with the same message for every cause. */
export class LoginRefused extends ApiError {
  constructor() {
    super({
      status: 401,
      type: 'authentication_error',
      code: 'login_refused',
      message: 'Login failed. Check your email address and password. If your login took longer than three minutes, start again.',
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
}
