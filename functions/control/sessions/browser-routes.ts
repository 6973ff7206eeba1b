import * as z from 'zod';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { AUTH_PATHS } from '../../../shared/identity/auth-paths.ts';
import { type BrowserResult, createBrowserRoute } from '../../../shared/identity/browser-route.ts';
import { endedCookie, presentedSession, toBrowserResult } from '../../../shared/identity/browser-session.ts';
import type { Caller } from '../../../shared/identity/request-origin.ts';
import { RefreshRefused } from './errors.ts';
import { endPresented, type RefreshDependencies, useSession } from './refresh-session.ts';
import { Refreshed } from './session.ts';

const route = createBrowserRoute<RefreshDependencies>();
const Nothing = z.strictObject({});

const refresh = async (deps: RefreshDependencies, caller: Caller, event: ApiEvent): Promise<BrowserResult> => {
  await deps.attempts.count({ kind: 'refresh', ipAddress: caller.ipAddress }, caller.receivedAtMs);
  const presented = presentedSession(event);
  const tokens = presented && (await deps.userPool.refreshRotating({ refreshToken: presented.refreshToken }));
  if (!tokens) throw new RefreshRefused();
  const session = await useSession(deps, caller, tokens, { previousId: presented.sessionId });
  if (!session) {
    await deps.userPool.revoke(tokens.refreshToken, 'browser');
    throw new RefreshRefused();
  }
  const { accessToken, expiresInSeconds } = tokens;
  const body: Refreshed = { object: 'session', access_token: accessToken, token_type: 'Bearer', expires_in: expiresInSeconds };
  return toBrowserResult(event, tokens, { body, staysSignedIn: session.idle_seconds === null, endsAt: session.ends_at });
};

// The cookie is deleted even if the session has ended already.
const logOut = async (deps: RefreshDependencies, caller: Caller, event: ApiEvent): Promise<BrowserResult> => {
  await deps.attempts.count({ kind: 'refresh', ipAddress: caller.ipAddress }, caller.receivedAtMs);
  const presented = presentedSession(event);
  // The token itself can't be read: the user pool says whose it is.
  const tokens = presented && (await deps.userPool.refreshRotating({ refreshToken: presented.refreshToken }));
  if (tokens) {
    await endPresented(deps, caller, presented.sessionId, tokens);
    await deps.userPool.revoke(tokens.refreshToken, 'browser');
  }
  return { cookie: endedCookie(event) };
};

/** The routes with which pages of the control plane's host keep and end a session. */
export const browserSessionRoutes = [
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.browserRefresh,
      operationId: 'refreshBrowserSession',
      summary: 'Get a new access token on a page of this host',
      description: 'Reads the refresh token from the cookie and replaces it. The previous one works for another minute, for other tabs.',
      body: { name: 'Nothing', schema: Nothing, example: {} },
      reply: { status: 200, description: 'A new access token.', json: { name: 'Refreshed', schema: Refreshed } },
      errors: [400, 403, 429, 503],
    },
    ({ deps, caller, event }) => refresh(deps, caller, event),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.browserLogout,
      operationId: 'logOutBrowser',
      summary: 'Log out on a page of this host',
      description: 'Ends the session of the cookie, and deletes the cookie.',
      body: { name: 'Nothing', schema: Nothing, example: {} },
      reply: { status: 204, description: 'Success. The response has no body.' },
      errors: [400, 403, 429, 503],
    },
    ({ deps, caller, event }) => logOut(deps, caller, event),
  ),
];
