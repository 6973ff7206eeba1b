import { TOKEN_PATH } from '../http/oauth-failure.ts';

/**
 * The paths under which users log in and manage their own credentials. Error messages and descriptions name them as
 * well.
 */
export const AUTH_PATHS = {
  login: '/v1/auth/login',
  challenge: '/v1/auth/challenge',
  refresh: '/v1/auth/refresh',
  logout: '/v1/auth/logout',
  password: '/v1/auth/password',
  forgot: '/v1/auth/forgot',
  reset: '/v1/auth/reset',
  totp: '/v1/auth/totp',
  verifyTotp: '/v1/auth/totp/verify',
  disableTotp: '/v1/auth/totp/disable',
  browserLogin: '/v1/auth/browser/login',
  browserChallenge: '/v1/auth/browser/challenge',
  browserRefresh: '/v1/auth/browser/refresh',
  browserLogout: '/v1/auth/browser/logout',
  proof: '/v1/auth/proof',
  ownSessions: '/v1/me/sessions',
  token: TOKEN_PATH,
} as const;

/** The paths of single sign-on. The function `single-sign-on` serves them. */
export const SSO_PATHS = {
  begin: '/v1/auth/sso',
  authorize: '/v1/auth/sso/authorize',
  callback: '/v1/auth/sso/callback',
  session: '/v1/auth/sso/session',
  browserSession: '/v1/auth/browser/sso',
} as const;

/**
 * The paths for people who have no session yet. The function `sign-in` serves them; the function `control` serves all
 * others.
 */
export const SIGN_IN_PATHS = [
  AUTH_PATHS.login,
  AUTH_PATHS.challenge,
  AUTH_PATHS.forgot,
  AUTH_PATHS.reset,
  AUTH_PATHS.browserLogin,
  AUTH_PATHS.browserChallenge,
] as const;
