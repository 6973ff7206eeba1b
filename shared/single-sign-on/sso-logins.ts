import { randomBytes } from 'node:crypto';
import { ConditionFailed, type Database, type Item } from '../database/database.ts';
import { hashOf, rowId } from '../quotas/row-id.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../time/units.ts';

/** How long a user has to sign in with their identity provider. */
export const SSO_LOGIN_MS = 10 * MINUTE_MS;
/** How long the code of a finished login can be exchanged for a session. */
export const SSO_CODE_MS = MINUTE_MS;
// Longer than the challenge itself: without its row, the answer would count as a login with a password.
const CHALLENGE_MS = 10 * MINUTE_MS;
const TEST_RESULT_MS = HOUR_MS;
const RANDOM_BYTES = 32;

/** A login that was begun: of a user whose address is in a domain, or a dry login that tests a connection. */
export type SsoLogin =
  | {
      kind: 'login';
      domain: string;
      /** The S256 challenge of whoever began the login, and will exchange its code. */
      codeChallenge: string;
      /** null: a page shows the code, unless the login began in the console. */
      redirectUri: string | null;
      /** The page of the console to which the user returns; null: the login did not begin there. */
      returnTo: string | null;
    }
  | { kind: 'test'; organization: string; provider: string; test: string };

/** A login that was sent to an identity provider. */
export interface SentSsoLogin {
  login: SsoLogin;
  organization: string;
  provider: string;
  /** The hash of the cookie of the browser. */
  browser: string;
}

/** A login that the identity provider has answered. */
export interface FinishedSsoLogin {
  user: string;
  organization: string;
  provider: string;
  hasSecondFactor: boolean;
  /** When the session must end, in milliseconds. */
  endsAtMs: number;
  /** The page of the console to which the user returns; null: the login did not begin there. */
  returnTo: string | null;
}

/** The result of a dry login, which changed nothing. */
export interface SsoTestResult {
  provider: string;
  outcome: 'refused' | 'signs_in' | 'links' | 'provisions';
  /** Why it was refused. */
  reason: string | null;
  subject: string | null;
  email: string | null;
  role: string | null;
  claims: Record<string, unknown>;
  finished_at: number;
}

const newSecret = (): string => randomBytes(RANDOM_BYTES).toString('base64url');

const secondsOf = (ms: number): number => Math.ceil(ms / SECOND_MS);

/**
 * The steps of single sign-on, in the table `attempts`. Each is found by a random text, of which only the hash is
 * stored, and ends at `expires_at`.
 */
export const createSsoLogins = (database: Database, table: string) => {
  const idOf = (step: string, secret: string): string => rowId(`sso-${step}`, hashOf(secret));

  const keep = async (id: string, value: object, expiresAtMs: number): Promise<void> => {
    await database.put({ TableName: table, Item: { id, value, expires_at: secondsOf(expiresAtMs) } });
  };

  const read = async <Value>(id: string, nowMs: number): Promise<Value | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { id }, ConsistentRead: true });
    return Item && Number(Item.expires_at) * SECOND_MS > nowMs ? (Item.value as Value) : undefined;
  };

  // Deletes the row only if one of its attributes has the value, so that of two requests one gets it.
  const take = async <Value>(id: string, [attribute, value]: readonly [string, string], nowMs: number): Promise<Value | undefined> => {
    try {
      const { Attributes } = await database.delete({
        TableName: table,
        Key: { id },
        ConditionExpression: 'expires_at > :now AND #value.#attribute = :value',
        ExpressionAttributeNames: { '#value': 'value', '#attribute': attribute },
        ExpressionAttributeValues: { ':now': nowMs / SECOND_MS, ':value': value },
        ReturnValues: 'ALL_OLD',
      });
      return (Attributes as Item).value as Value;
    } catch (error) {
      if (error instanceof ConditionFailed) return undefined;
      throw error;
    }
  };

  return {
    /** Begins a login. @returns the text by which it goes on, and the time when it expires, in milliseconds */
    begin: async (login: SsoLogin, nowMs: number): Promise<{ login: string; expiresAtMs: number }> => {
      const secret = newSecret();
      const expiresAtMs = nowMs + SSO_LOGIN_MS;
      await keep(idOf('login', secret), login, expiresAtMs);
      return { login: secret, expiresAtMs };
    },

    /** Returns a login that was begun. It stays, so that its page can be loaded again. */
    find: (login: string, nowMs: number): Promise<SsoLogin | undefined> => read(idOf('login', login), nowMs),

    /** Stores a login under the state with which it is sent to the identity provider. */
    send: (state: string, sent: SentSsoLogin, nowMs: number): Promise<void> => keep(idOf('state', state), sent, nowMs + SSO_LOGIN_MS),

    findSent: (state: string, nowMs: number): Promise<SentSsoLogin | undefined> => read(idOf('state', state), nowMs),

    /** Returns a sent login once, to the browser that began it. */
    takeSent: (state: string, browser: string, nowMs: number): Promise<SentSsoLogin | undefined> =>
      take(idOf('state', state), ['browser', browser], nowMs),

    /** Stores a finished login. @returns its code */
    finish: async (finished: FinishedSsoLogin, codeChallenge: string, nowMs: number): Promise<string> => {
      const code = newSecret();
      await keep(idOf('code', code), { ...finished, codeChallenge }, nowMs + SSO_CODE_MS);
      return code;
    },

    /** Returns a finished login once, to whoever has the verifier of its challenge. */
    takeFinished: (code: string, codeChallenge: string, nowMs: number): Promise<FinishedSsoLogin | undefined> =>
      take(idOf('code', code), ['codeChallenge', codeChallenge], nowMs),

    /** Stores the finished login of a user who must answer a challenge of the user pool first. */
    keepChallenge: (session: string, finished: FinishedSsoLogin, nowMs: number): Promise<void> =>
      keep(idOf('challenge', session), finished, nowMs + CHALLENGE_MS),

    /** Returns the login of a challenge; undefined if it did not begin with single sign-on. */
    findChallenge: (session: string, nowMs: number): Promise<FinishedSsoLogin | undefined> => read(idOf('challenge', session), nowMs),

    /** Stores the result of a dry login for an hour. */
    saveTest: (test: string, result: SsoTestResult, nowMs: number): Promise<void> =>
      keep(idOf('test', test), result, nowMs + TEST_RESULT_MS),

    /** Returns the result of a dry login; undefined if it is not finished, or expired. */
    testResult: (test: string, nowMs: number): Promise<SsoTestResult | undefined> => read(idOf('test', test), nowMs),
  };
};

export type SsoLogins = ReturnType<typeof createSsoLogins>;
