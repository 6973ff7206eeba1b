import type { Database } from '../database/database.ts';
import { hashOf, rowId } from '../quotas/row-id.ts';
import { createSlidingCounts, type SlidingLimit } from '../quotas/sliding-counts.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../time/units.ts';
import { TooManyAttempts } from './errors.ts';
import { networkOf } from './network-of.ts';

// Every time of this length is within the limits.
const WINDOW_MS = 5 * MINUTE_MS;
/** A refused login, challenge or reset is answered this long after it arrived, and keeps an environment until then. */
export const REFUSED_MS = 800;
// Refused attempts of one address that can be held back at once.
const MAX_AT_ONCE = 10;
// How long the network of a successful login is known.
const KNOWN_MS = 30 * DAY_MS;

interface AttemptLimits {
  /** From one address (see networkOf), which many users may share. */
  address: number;
  /** On one account, from one IP address. */
  pair: number;
  /**
   * On one account from all addresses, whether the account exists or not. Higher, because anyone can use it up. Absent
   * if nothing can be guessed.
   */
  account?: number;
}

const PASSWORDS: AttemptLimits = { address: 60, pair: 10, account: 100 };
// Lower per account, because a six-digit code could be guessed.
const CODES: AttemptLimits = { address: 60, pair: 10, account: 30 };
const LIMITS = {
  login: PASSWORDS,
  challenge: CODES,
  forgot: { address: 20, pair: 5, account: 10 },
  reset: CODES,
  password: PASSWORDS,
  totp: CODES,
  refresh: { address: 300, pair: 300, account: 300 },
  // Everyone of an office can sign in at nine o'clock; nothing can be guessed.
  sso: { address: 1_000, pair: 1_000, account: 1_000 },
  invite: { address: 200, pair: 100, account: 100 },
  // Many jobs can share an address, and anyone can know an id.
  token: { address: 600, pair: 300 },
} as const satisfies Record<string, AttemptLimits>;

// The kinds whose refusals are held back. An address has one count for all of them.
const HELD_BACK: ReadonlySet<string> = new Set<keyof typeof LIMITS>(['login', 'challenge', 'reset']);

export interface LoginAttempt {
  /** Each kind has its own counts. */
  kind: keyof typeof LIMITS;
  ipAddress: string;
  /** An email address, or the id of a user or an identity provider; absent if none is known. */
  account?: string;
}

interface Counted extends SlidingLimit {
  /** Set for a limit that strangers can use up. */
  isOfAccount?: true;
}

const limitsOf = ({ kind, ipAddress, account }: LoginAttempt): Counted[] => {
  const { address, pair, account: ofAccount }: AttemptLimits = LIMITS[kind];
  const network = networkOf(ipAddress);
  const limit = (id: string, max: number, windowMs = WINDOW_MS): Counted => ({ id, max, windowMs });
  const isHeldBack = HELD_BACK.has(kind);
  const ofAddress = limit(rowId(isHeldBack ? 'sign-in' : kind, 'address', network), address);
  if (account === undefined) return [ofAddress];
  const hash = hashOf(account);
  return [
    ofAddress,
    limit(rowId(kind, 'pair', network, hash), pair),
    ...(isHeldBack ? [limit(rowId('sign-in', 'at-once', network), MAX_AT_ONCE, REFUSED_MS)] : []),
    ...(ofAccount === undefined ? [] : [{ ...limit(rowId(kind, 'account', hash), ofAccount), isOfAccount: true as const }]),
  ];
};

const knownId = ({ ipAddress, account = '' }: LoginAttempt): string => rowId('known', hashOf(rowId(account, networkOf(ipAddress))));

/**
 * Limits logins, codes and invitations by counts in the table `attempts`. An attempt is counted before it is made, so
 * that concurrent attempts cannot exceed the limit.
 */
export const createLoginAttempts = (database: Database, table: string) => {
  const counts = createSlidingCounts(database, table);

  const isKnown = async (attempt: LoginAttempt, nowMs: number): Promise<boolean> => {
    const { Item } = await database.get({ TableName: table, Key: { id: knownId(attempt) } });
    return Item !== undefined && Number(Item.expires_at) * SECOND_MS > nowMs;
  };

  return {
    /**
     * Counts an attempt. From a network from which the user has logged in, the account's own limit doesn't apply to
     * logins, challenges and resets: strangers can use it up. @throws 429 if there were too many
     */
    count: async (attempt: LoginAttempt, nowMs: number): Promise<void> => {
      for (const limit of limitsOf(attempt)) {
        const seconds = await counts.count(limit, nowMs);
        if (seconds === undefined) continue;
        if (limit.isOfAccount && HELD_BACK.has(attempt.kind) && (await isKnown(attempt, nowMs))) continue;
        throw new TooManyAttempts(seconds);
      }
    },

    /** Tells if the account has logged in from this network in the last 30 days. */
    isKnown,

    /** Remembers the network from which a user has logged in, for 30 days. */
    know: async (attempt: LoginAttempt, nowMs: number): Promise<void> => {
      await database.update({
        TableName: table,
        Key: { id: knownId(attempt) },
        UpdateExpression: 'SET expires_at = :expires',
        ExpressionAttributeValues: { ':expires': Math.ceil((nowMs + KNOWN_MS) / SECOND_MS) },
      });
    },

    /** Removes a successful attempt from the counts. */
    forget: async (attempt: LoginAttempt, nowMs: number): Promise<void> => {
      for (const limit of limitsOf(attempt)) await counts.takeBack(limit, nowMs);
    },
  };
};

export type LoginAttempts = ReturnType<typeof createLoginAttempts>;
