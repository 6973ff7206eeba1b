import { randomBytes } from 'node:crypto';
import { type ApiEvent, headerOf } from '../../shared/http/api-event.ts';
import { SSO_LOGIN_MS } from '../../shared/single-sign-on/sso-logins.ts';
import { SECOND_MS } from '../../shared/time/units.ts';

const RANDOM_BYTES = 32;
const VALUE = /^[\w-]{43}$/;

// Browsers send a cookie to every port of a host, and local runs differ in their ports.
const nameOf = (controlUrl: string): string => {
  const { port } = new URL(controlUrl);
  return `__Host-sluice-sso${port && `-${port}`}`;
};

/** Returns the value of the cookie that binds a login to its browser; undefined without one. */
export const loginCookieOf = (event: ApiEvent, controlUrl: string): string | undefined => {
  const prefix = `${nameOf(controlUrl)}=`;
  const cookies = (headerOf(event, 'cookie') ?? '').split(';').map((cookie) => cookie.trim());
  const value = cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length);
  return value !== undefined && VALUE.test(value) ? value : undefined;
};

export const newLoginCookie = (): string => randomBytes(RANDOM_BYTES).toString('base64url');

/**
 * Returns the header `set-cookie`. The cookie is `Lax`, because browsers don't send a `Strict` one when the identity
 * provider sends them back.
 */
export const toSetCookie = (value: string, controlUrl: string): string =>
  `${nameOf(controlUrl)}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${SSO_LOGIN_MS / SECOND_MS}`;
