import { apiUrl } from './address.ts';
import { ApiFailure } from './api-failure.ts';
import { fetchReply, jsonOf } from './fetch-reply.ts';
import type { ReplyBody, RequestBody, RouteName } from './routes.ts';

/** `expired`: the user was signed in, and what they typed is still on the page. */
export type SessionState = 'unknown' | 'signed-out' | 'signed-in' | 'expired';

type BrowserRoute = Extract<RouteName, `POST /v1/auth/browser/${string}`>;

interface Tokens {
  accessToken: string;
  /** Milliseconds since the epoch. */
  renewAtMs: number;
}

const RENEWED_BEFORE_MS = 60_000;
const LOCK = 'sluice-refresh';
const CHANNEL = 'sluice-session';
// In the local storage: the user has signed out, and the service could not be reached.
const OWED_LOGOUT = 'sluice-signed-out';

// Only in memory: no other page of this host can read it there.
let tokens: Tokens | undefined;
let state: SessionState = 'unknown';
const listeners = new Set<() => void>();
const otherTabs = new BroadcastChannel(CHANNEL);

const become = (next: SessionState): void => {
  state = next;
  for (const listener of listeners) listener();
};

/** Calls one of the routes that read and write the cookie with the refresh token. @throws ApiFailure */
export const callWithCookie = async <Name extends BrowserRoute>(name: Name, body: RequestBody<Name>): Promise<ReplyBody<Name>> => {
  const response = await fetchReply(apiUrl(name.slice('POST '.length)), {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', 'x-sluice-console': '1' },
    body: JSON.stringify(body),
  });
  return (await jsonOf(response)) as ReplyBody<Name>;
};

interface Login {
  access_token: string;
  expires_in: number;
}

const keep = ({ access_token, expires_in }: Login): void => {
  localStorage.removeItem(OWED_LOGOUT);
  tokens = { accessToken: access_token, renewAtMs: Date.now() + expires_in * 1_000 - RENEWED_BEFORE_MS };
  become('signed-in');
};

/** Begins a session with the tokens of a login. Tabs whose session has ended go on with it. */
export const beginSession = (login: Login): void => {
  keep(login);
  otherTabs.postMessage('signed-in');
};

const endSession = (): void => {
  tokens = undefined;
  become(state === 'signed-in' || state === 'expired' ? 'expired' : 'signed-out');
};

const endCookie = async (): Promise<void> => {
  await callWithCookie('POST /v1/auth/browser/logout', {});
  localStorage.removeItem(OWED_LOGOUT);
};

const signedOut = (): ApiFailure =>
  new ApiFailure({ status: 401, code: 'signed_out', message: 'You have signed out. Sign in to continue.' });

let refreshing: Promise<string> | undefined;

// One tab at a time, because each refresh replaces the cookie.
const refreshOnce = (): Promise<string> =>
  navigator.locks.request(LOCK, async () => {
    const before = tokens;
    try {
      // After it, there is no session to renew.
      if (localStorage.getItem(OWED_LOGOUT)) await endCookie();
      const session = await callWithCookie('POST /v1/auth/browser/refresh', {});
      // The user can have signed out meanwhile.
      if (state === 'signed-out') throw signedOut();
      keep(session);
      return session.access_token;
    } catch (error) {
      // The user can have signed in again meanwhile, and this is about the session before.
      if (tokens && tokens !== before) return tokens.accessToken;
      if (error instanceof ApiFailure && error.status >= 400 && error.status < 500 && error.status !== 429) endSession();
      throw error;
    }
  });

/**
 * Replaces the access token. After a logout, only a login begins a session: a screen that was left can still ask.
 * @throws ApiFailure, with `expired` or `signed-out` as the state if the session has ended
 */
export const refresh = async (): Promise<string> => {
  if (state === 'signed-out') throw signedOut();
  refreshing ??= refreshOnce().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
};

/** The access token of the session, renewed if it ends soon. @throws ApiFailure */
export const accessToken = async (): Promise<string> => (tokens && Date.now() < tokens.renewAtMs ? tokens.accessToken : refresh());

const lastCalls = new Set<() => Promise<unknown>>();

/** Adds something to do at each logout while the session still works. It must end soon, and may fail. */
export const beforeLogOut = (call: () => Promise<unknown>): void => {
  lastCalls.add(call);
};

/**
 * Logs out here and in all tabs of this browser. The state is `signed-out` even if the service can't be reached: then
 * the next page that is loaded ends the session, before anybody can use it.
 */
export const logOut = async (): Promise<void> => {
  await Promise.allSettled([...lastCalls].map((call) => call()));
  await endCookie().catch(() => localStorage.setItem(OWED_LOGOUT, '1'));
  otherTabs.postMessage('signed-out');
  tokens = undefined;
  become('signed-out');
};

const onMessage = (heard: 'signed-in' | 'signed-out'): void => {
  if (heard === 'signed-in') {
    if (state === 'expired') refresh().catch(() => undefined);
    return;
  }
  tokens = undefined;
  become('signed-out');
};
otherTabs.addEventListener('message', (event) => onMessage((event as MessageEvent).data));

/** Calls a function when the user has signed in, in another tab. @returns a function that stops the calls */
export const onLoginElsewhere = (listener: () => void): (() => void) => {
  const hear = (event: Event) => (event as MessageEvent).data === 'signed-in' && listener();
  otherTabs.addEventListener('message', hear);
  return () => otherTabs.removeEventListener('message', hear);
};

/** For `useSyncExternalStore`. */
export const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const sessionState = (): SessionState => state;
