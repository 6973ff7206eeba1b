import type { Caller } from '../identity/request-origin.ts';
import { type StoredSession, sessionOf } from '../identity/session-store.ts';
import type { Access } from '../identity/sign-in.ts';
import { SECOND_MS } from '../time/units.ts';
import type { FinishedSsoLogin } from './sso-logins.ts';

/** The client of a session, and how long the session lasts at most. */
export interface SsoClient {
  client: StoredSession['client'];
  /** Absent: as long as the tokens. */
  lifetime?: { seconds: number; idleSeconds: number | null } | undefined;
}

/**
 * Returns the row of a session that began with single sign-on. It ends when its connection says, or earlier.
 * @param access of the sign-in; `sessionId` is undefined if its tokens don't name their session
 * @throws Error without an id, because such a session would not end in time
 */
export const ssoSessionOf = (
  { sessionId: id, authenticatedAt }: Pick<Access, 'sessionId' | 'authenticatedAt'>,
  caller: Pick<Caller, 'ipAddress' | 'userAgent' | 'receivedAtMs'>,
  { provider, hasSecondFactor, endsAtMs }: FinishedSsoLogin,
  login: SsoClient & { hasCode: boolean },
): StoredSession => {
  if (id === undefined) throw new Error('The user pool issued a token without origin_jti.');
  const { client, hasCode, lifetime: { seconds, idleSeconds } = { seconds: Number.POSITIVE_INFINITY, idleSeconds: null } } = login;
  const secondsLeft = Math.max(1, Math.floor((endsAtMs - caller.receivedAtMs) / SECOND_MS));
  return sessionOf(id, caller, {
    client,
    authenticatedAt,
    proof: `sso:${provider}`,
    hasSecondFactor: hasSecondFactor || hasCode,
    seconds: Math.min(seconds, secondsLeft),
    idleSeconds,
  });
};
