import * as z from 'zod';
import { type ApiEvent, headerOf } from '../http/api-event.ts';
import { Forbidden } from '../http/errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, unixSeconds } from '../time/units.ts';

/** 403 for a request for a cookie that another site could have caused. */
export class CrossSiteRequest extends Forbidden {
  constructor() {
    super({
      code: 'cross_site_request',
      message:
        "Only pages of this host can send this request, as JSON and with the header 'x-sluice-console: 1'. Programs log in with POST /v1/auth/login.",
    });
  }
}

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined);

const isSameOrigin = (event: ApiEvent): boolean => {
  const site = headerOf(event, 'sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const host = headerOf(event, 'host');
  return host !== undefined && hostOf(headerOf(event, 'origin') ?? '') === host;
};

/**
 * Rejects requests that a page of another site can make a browser send: a form can't send JSON, and a script can't add
 * a header without a preflight request, which these routes don't allow. @throws 403
 */
export const requireSameOrigin = (event: ApiEvent): void => {
  const isJson = /^application\/json\s*(?:;|$)/i.test(headerOf(event, 'content-type') ?? '');
  if (!isJson || headerOf(event, 'x-sluice-console') !== '1' || !isSameOrigin(event)) throw new CrossSiteRequest();
};

// The largest cookie that every browser stores.
const MAX_COOKIE_LENGTH = 4_096;
const COOKIE_VALUE = /^(ses_[0-9A-Za-z]{18})\.([\w.~+/=-]+)$/;

// Browsers send cookies to every port of a host, and local runs differ in their ports.
const nameOf = (event: ApiEvent): string => {
  const [, port] = /:(\d{1,5})$/.exec(headerOf(event, 'host') ?? '') ?? [];
  return `__Host-sluice-${port ?? event.requestContext.stage ?? 'live'}`;
};

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** The contents of the cookie. */
export interface BrowserSession {
  sessionId: string;
  refreshToken: string;
}

/** Returns the header `set-cookie` that keeps a session. @param maxAgeSeconds absent: until the browser is closed */
export const sessionCookie = (event: ApiEvent, { sessionId, refreshToken }: BrowserSession, maxAgeSeconds?: number): string => {
  const value = `${sessionId}.${refreshToken}`;
  const cookie = `${nameOf(event)}=${value}; ${ATTRIBUTES}${maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`}`;
  if (!COOKIE_VALUE.test(value) || cookie.length > MAX_COOKIE_LENGTH) throw new Error('The refresh token does not fit into a cookie.');
  return cookie;
};

/** Returns the header `set-cookie` that deletes the cookie. */
export const endedCookie = (event: ApiEvent): string => `${nameOf(event)}=; ${ATTRIBUTES}; Max-Age=0`;

/** Returns what the cookie of a request contains; undefined without one. */
export const presentedSession = (event: ApiEvent): BrowserSession | undefined => {
  const name = `${nameOf(event)}=`;
  const cookies = (headerOf(event, 'cookie') ?? '').split(';').map((text) => text.trim());
  const [, sessionId, refreshToken] = COOKIE_VALUE.exec(cookies.find((text) => text.startsWith(name))?.slice(name.length) ?? '') ?? [];
  return sessionId === undefined || refreshToken === undefined ? undefined : { sessionId, refreshToken };
};

/** A field of logins on pages of this host. */
export const StaySignedIn = z.boolean().default(false).meta({
  description:
    'If true, the session lasts 30 days. Otherwise it lasts until the browser is closed: 12 hours at most, and 30 minutes without a refresh.',
});

/** How long a browser's session lasts, and without use; null: it doesn't end for lack of use. */
export const browserLifetime = (staysSignedIn: boolean): { seconds: number; idleSeconds: number | null } =>
  staysSignedIn
    ? { seconds: (30 * DAY_MS) / SECOND_MS, idleSeconds: null }
    : { seconds: (12 * HOUR_MS) / SECOND_MS, idleSeconds: (30 * MINUTE_MS) / SECOND_MS };

/**
 * Returns the body of a login or a refresh with its cookie.
 * @param session `endsAt` in Unix seconds; absent for a login
 * @throws Error without the claim from which the session's id is derived
 */
export const toBrowserResult = (
  event: ApiEvent,
  { sessionId, refreshToken }: { sessionId: string | undefined; refreshToken: string },
  { body, staysSignedIn, endsAt }: { body: unknown; staysSignedIn: boolean; endsAt?: number },
): { body: unknown; cookie: string } => {
  if (sessionId === undefined) throw new Error("The access token doesn't name its session.");
  const secondsLeft = endsAt === undefined ? browserLifetime(true).seconds : endsAt - unixSeconds(event.receivedAtMs);
  return { body, cookie: sessionCookie(event, { sessionId, refreshToken }, staysSignedIn ? secondsLeft : undefined) };
};
