import { createHash } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Database, isConditionFailed } from '../../../shared/database/client.ts';
import { TooManyAttempts } from './errors.ts';

/** Attempts are counted in spans of this length. */
const SPAN_MS = 5 * 60_000;
/** DynamoDB removes a count some time after this. */
const KEPT_MS = 60 * 60_000;

/** How many attempts of one kind are allowed in five minutes. */
interface Bounds {
  /** From one IP address, which many people may share. */
  address: number;
  /** On one account, from one IP address. */
  pair: number;
  /** On one account, whether it exists or not, from everywhere: higher, because anyone can use it up. */
  account: number;
}

const GUESSES: Bounds = { address: 60, pair: 10, account: 100 };
/** Codes have only six digits, so guessing could succeed. */
const CODES: Bounds = { address: 60, pair: 10, account: 30 };
const BOUNDS = {
  login: GUESSES,
  challenge: CODES,
  forgot: { address: 20, pair: 5, account: 10 },
  reset: CODES,
  password: GUESSES,
  totp: CODES,
  refresh: { address: 600, pair: 600, account: 600 },
  invite: { address: 200, pair: 100, account: 100 },
} as const satisfies Record<string, Bounds>;

export interface Attempt {
  /** Each kind has its own counts. */
  kind: keyof typeof BOUNDS;
  ipAddress: string;
  /** An e-mail address, or the id of a user; absent where neither is known. */
  account?: string;
}

const idsOf = ({ kind, ipAddress, account }: Attempt, nowMs: number) => {
  const span = Math.floor(nowMs / SPAN_MS);
  const bounds = BOUNDS[kind];
  const ofAddress = { id: `${kind}#address#${ipAddress}#${span}`, max: bounds.address };
  if (account === undefined) return [ofAddress];
  const hash = createHash('sha256').update(account).digest('base64url');
  return [
    ofAddress,
    { id: `${kind}#pair#${ipAddress}#${hash}#${span}`, max: bounds.pair },
    { id: `${kind}#account#${hash}#${span}`, max: bounds.account },
  ];
};

/**
 * The table `attempts`: how often passwords, codes and invitations were tried. An attempt is counted before it is made, so that parallel attempts
 * cannot pass the bound.
 */
export const createAttemptStore = (database: Database, table: string) => {
  const add = async (id: string, by: number, max: number, nowMs: number): Promise<void> => {
    await database.send(
      new UpdateCommand({
        TableName: table,
        Key: { id },
        UpdateExpression: 'SET expires_at = :expires ADD attempts :by',
        ConditionExpression: 'attribute_not_exists(attempts) OR attempts < :max',
        ExpressionAttributeValues: { ':expires': Math.ceil((nowMs + KEPT_MS) / 1_000), ':by': by, ':max': max },
      }),
    );
  };
  return {
    /** Counts an attempt. @throws 429 where there were too many */
    count: async (attempt: Attempt, nowMs: number): Promise<void> => {
      for (const { id, max } of idsOf(attempt, nowMs)) {
        try {
          await add(id, 1, max, nowMs);
        } catch (error) {
          if (!isConditionFailed(error)) throw error;
          throw new TooManyAttempts(Math.ceil((SPAN_MS - (nowMs % SPAN_MS)) / 1_000));
        }
      }
    },

    /** Removes an attempt that succeeded from the counts. */
    forget: async (attempt: Attempt, nowMs: number): Promise<void> => {
      for (const { id } of idsOf(attempt, nowMs)) await add(id, -1, Number.MAX_SAFE_INTEGER, nowMs);
    },
  };
};

export type AttemptStore = ReturnType<typeof createAttemptStore>;
