import { createHash } from 'node:crypto';
import { ConditionFailed, type Database } from '../database/database.ts';
import type { Write } from '../database/transaction.ts';
import { TooManyAttempts } from './errors.ts';

/** Attempts are counted in fixed windows of this length. */
const WINDOW_MS = 5 * 60_000;
/** DynamoDB deletes a count some time after this. */
const RETENTION_MS = 60 * 60_000;

/** How many attempts of one kind are allowed in a window. */
interface AttemptLimits {
  /** From one IP address, which many users may share. */
  address: number;
  /** On one account, from one IP address. */
  pair: number;
  /** On one account from all addresses, whether the account exists or not. Higher, because anyone can use it up. */
  account: number;
}

const PASSWORDS: AttemptLimits = { address: 60, pair: 10, account: 100 };
/** Lower per account, because a six-digit code could be guessed. */
const CODES: AttemptLimits = { address: 60, pair: 10, account: 30 };
const LIMITS = {
  login: PASSWORDS,
  challenge: CODES,
  forgot: { address: 20, pair: 5, account: 10 },
  reset: CODES,
  password: PASSWORDS,
  totp: CODES,
  refresh: { address: 600, pair: 600, account: 600 },
  invite: { address: 200, pair: 100, account: 100 },
} as const satisfies Record<string, AttemptLimits>;

export interface Attempt {
  /** Each kind has its own counts. */
  kind: keyof typeof LIMITS;
  ipAddress: string;
  /** An e-mail address or the id of a user; absent if neither is known. */
  account?: string;
}

/** Something that a user or an organization can do only so often in a minute, an hour or a day (UTC). */
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

const idsOf = ({ kind, ipAddress, account }: Attempt, nowMs: number) => {
  const window = Math.floor(nowMs / WINDOW_MS);
  const limits = LIMITS[kind];
  const ofAddress = { id: `${kind}#address#${ipAddress}#${window}`, max: limits.address };
  if (account === undefined) return [ofAddress];
  const hash = hashOf(account);
  return [
    ofAddress,
    { id: `${kind}#pair#${ipAddress}#${hash}#${window}`, max: limits.pair },
    { id: `${kind}#account#${hash}#${window}`, max: limits.account },
  ];
};

/**
 * The `attempts` table, which limits logins, codes and invitations, the API keys that a member creates per day, and the tickets and
 * attachments of an organization per hour. An attempt is counted before it is made, so that concurrent attempts cannot
 * exceed the limit.
 */
export const createAttemptStore = (database: Database, table: string) => {
  const updateOf = (id: string, by: number, max: number, lastMs: number) => ({
    TableName: table,
    Key: { id },
    UpdateExpression: 'SET expires_at = :expires ADD attempts :by',
    ConditionExpression: 'attribute_not_exists(attempts) OR attempts <= :most',
    ExpressionAttributeValues: { ':expires': Math.ceil((lastMs + RETENTION_MS) / 1_000), ':by': by, ':most': max - Math.max(by, 1) },
  });
  const add = async (id: string, by: number, max: number, nowMs: number): Promise<void> => {
    await database.update(updateOf(id, by, max, nowMs));
  };
  const spanOf = ({ kind, span, account, max, by = 1 }: Quota, nowMs: number) => {
    const number = Math.floor(nowMs / SPANS_MS[span]);
    const endMs = (number + 1) * SPANS_MS[span];
    return { endMs, update: updateOf(`${kind}#${span}#${hashOf(account)}#${number}`, by, max, endMs) };
  };
  return {
    /** Counts an attempt. @throws 429 if there were too many */
    count: async (attempt: Attempt, nowMs: number): Promise<void> => {
      for (const { id, max } of idsOf(attempt, nowMs)) {
        try {
          await add(id, 1, max, nowMs);
        } catch (error) {
          if (!(error instanceof ConditionFailed)) throw error;
          throw new TooManyAttempts(Math.ceil((WINDOW_MS - (nowMs % WINDOW_MS)) / 1_000));
        }
      }
    },

    /** Counts one of the hour or the day, in the transaction that does it. */
    toCountInSpan: (quota: Quota, nowMs: number, refused: () => Error): Write => ({
      item: { Update: spanOf(quota, nowMs).update },
      refused,
    }),

    /** Counts one of the minute, the hour or the day, unless there are too many. @returns whether it is counted, and when the span ends, in ms */
    countInSpan: async (quota: Quota, nowMs: number): Promise<{ isCounted: boolean; untilMs: number }> => {
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
      for (const { id } of idsOf(attempt, nowMs)) await add(id, -1, Number.MAX_SAFE_INTEGER, nowMs);
    },
  };
};

export type AttemptStore = ReturnType<typeof createAttemptStore>;
