import { createHash } from 'node:crypto';
import { ConditionFailed, type Database } from '../database/database.ts';
import type { Write } from '../database/transaction.ts';
import { TooManyAttempts } from './errors.ts';
import { networkOf } from './network-of.ts';
import { createSlidingCounts, type SlidingLimit } from './sliding-counts.ts';

// Every time of this length is within the limits.
const WINDOW_MS = 5 * 60_000;
/** A refused login, challenge or reset is answered this long after it arrived, and keeps an environment until then. */
export const REFUSED_MS = 800;
// Refused attempts of one address that can be held back at once.
const MAX_AT_ONCE = 10;
// How long the network of a successful login is known.
const KNOWN_MS = 30 * 86_400_000;
// DynamoDB deletes a count some time after this.
const RETENTION_MS = 60 * 60_000;

interface AttemptLimits {
  /** From one address (see networkOf), which many users may share. */
  address: number;
  /** On one account, from one IP address. */
  pair: number;
  /** On one account from all addresses, whether the account exists or not. Higher, because anyone can use it up. */
  account: number;
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
  invite: { address: 200, pair: 100, account: 100 },
} as const satisfies Record<string, AttemptLimits>;

// The kinds whose refusals are held back. An address has one count for all of them.
const HELD_BACK: ReadonlySet<string> = new Set<keyof typeof LIMITS>(['login', 'challenge', 'reset']);

export interface Attempt {
  /** Each kind has its own counts. */
  kind: keyof typeof LIMITS;
  ipAddress: string;
  /** An e-mail address or the id of a user; absent if neither is known. */
  account?: string;
}

interface Quota {
  /** Each kind has its own counts. */
  kind: string;
  span: keyof typeof SPANS_MS;
  account: string;
  max: number;
  /** How many are counted. Default: one. */
  by?: number;
}
const SPANS_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

const hashOf = (account: string): string => createHash('sha256').update(account).digest('base64url');

const toId = (...parts: readonly string[]): string => parts.join('#');

interface Counted extends SlidingLimit {
  /** Set for a limit that strangers can use up. */
  isOfAccount?: true;
}

const limitsOf = ({ kind, ipAddress, account }: Attempt): Counted[] => {
  const { address, pair, account: ofAccount } = LIMITS[kind];
  const network = networkOf(ipAddress);
  const limit = (id: string, max: number, windowMs = WINDOW_MS): Counted => ({ id, max, windowMs });
  const isHeldBack = HELD_BACK.has(kind);
  const ofAddress = limit(toId(isHeldBack ? 'sign-in' : kind, 'address', network), address);
  if (account === undefined) return [ofAddress];
  const hash = hashOf(account);
  return [
    ofAddress,
    limit(toId(kind, 'pair', network, hash), pair),
    ...(isHeldBack ? [limit(toId('sign-in', 'at-once', network), MAX_AT_ONCE, REFUSED_MS)] : []),
    { ...limit(toId(kind, 'account', hash), ofAccount), isOfAccount: true },
  ];
};

const knownId = ({ ipAddress, account = '' }: Attempt): string => toId('known', hashOf(toId(account, networkOf(ipAddress))));

/**
 * The `attempts` table, which limits logins, codes and invitations, and the calls of the control plane. An attempt is
 * counted before it is made, so that concurrent attempts cannot exceed the limit.
 */
export const createAttemptStore = (database: Database, table: string) => {
  const counts = createSlidingCounts(database, table);

  const isKnown = async (attempt: Attempt, nowMs: number): Promise<boolean> => {
    const { Item } = await database.get({ TableName: table, Key: { id: knownId(attempt) } });
    return Item !== undefined && Number(Item.expires_at) * 1_000 > nowMs;
  };

  const updateOf = (id: string, by: number, max: number, lastMs: number) => ({
    TableName: table,
    Key: { id },
    UpdateExpression: 'SET expires_at = :expires ADD attempts :by',
    ConditionExpression: 'attribute_not_exists(attempts) OR attempts <= :most',
    ExpressionAttributeValues: { ':expires': Math.ceil((lastMs + RETENTION_MS) / 1_000), ':by': by, ':most': max - Math.max(by, 1) },
  });
  const spanOf = ({ kind, span, account, max, by = 1 }: Quota, nowMs: number) => {
    const number = Math.floor(nowMs / SPANS_MS[span]);
    const endMs = (number + 1) * SPANS_MS[span];
    return { endMs, update: updateOf(toId(kind, span, hashOf(account), String(number)), by, max, endMs) };
  };
  return {
    /**
     * Counts an attempt. From a network from which the user has logged in, the account's own limit doesn't apply to
     * logins, challenges and resets: strangers can use it up. @throws 429 if there were too many
     */
    count: async (attempt: Attempt, nowMs: number): Promise<void> => {
      for (const limit of limitsOf(attempt)) {
        const seconds = await counts.count(limit, nowMs);
        if (seconds === undefined) continue;
        if (limit.isOfAccount && HELD_BACK.has(attempt.kind) && (await isKnown(attempt, nowMs))) continue;
        throw new TooManyAttempts(seconds);
      }
    },

    /** Notes the network from which a user has logged in. */
    know: async (attempt: Attempt, nowMs: number): Promise<void> => {
      await database.update({
        TableName: table,
        Key: { id: knownId(attempt) },
        UpdateExpression: 'SET expires_at = :expires',
        ExpressionAttributeValues: { ':expires': Math.ceil((nowMs + KNOWN_MS) / 1_000) },
      });
    },

    /** Counts one of the hour or the day, in the transaction that does it. */
    toCountInSpan: (quota: Quota, nowMs: number, refused: () => Error): Write => ({
      item: { Update: spanOf(quota, nowMs).update },
      refused,
    }),

    /**
     * Counts one of the minute, the hour or the day, unless there are too many. A minute slides: no 60 seconds have
     * more than the maximum.
     * @returns whether it is counted, and when the span ends or one more fits, in ms
     */
    countInSpan: async (quota: Quota, nowMs: number): Promise<{ isCounted: boolean; untilMs: number }> => {
      const { kind, span, account, max, by = 1 } = quota;
      if (span === 'minute') {
        const id = toId(kind, span, hashOf(account));
        const seconds = await counts.count({ id, max: Math.floor(max / by), windowMs: SPANS_MS.minute }, nowMs);
        return { isCounted: seconds === undefined, untilMs: nowMs + (seconds === undefined ? SPANS_MS.minute : seconds * 1_000) };
      }
      const { endMs: untilMs, update } = spanOf(quota, nowMs);
      try {
        await database.update(update);
        return { isCounted: true, untilMs };
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        return { isCounted: false, untilMs };
      }
    },

    /** Removes a successful attempt from the counts. */
    forget: async (attempt: Attempt, nowMs: number): Promise<void> => {
      for (const limit of limitsOf(attempt)) await counts.takeBack(limit, nowMs);
    },
  };
};

export type AttemptStore = ReturnType<typeof createAttemptStore>;
