import type { Database } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import type { Write } from '../database/transaction.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time/units.ts';
import { hashOf, rowId } from './row-id.ts';
import { createSlidingCounts } from './sliding-counts.ts';

// DynamoDB deletes a count some time after this.
const RETENTION_MS = HOUR_MS;

const SPANS_MS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const;

/** A number of actions that a user or an organization can do in a minute, an hour or a day (UTC). */
export interface Quota {
  /** Each kind has its own counts. */
  kind: string;
  span: keyof typeof SPANS_MS;
  account: string;
  max: number;
  /** The number of actions to count. Default: one. */
  by?: number;
  /** An hour or a day slides as a minute does, if the action is counted alone. */
  slides?: true;
}

const updateOf = (table: string, { kind, span, account, max, by = 1 }: Quota, nowMs: number) => {
  const number = Math.floor(nowMs / SPANS_MS[span]);
  const endMs = (number + 1) * SPANS_MS[span];
  const update = {
    TableName: table,
    Key: { id: rowId(kind, span, hashOf(account), String(number)) },
    UpdateExpression: 'SET expires_at = :expires ADD attempts :by',
    ConditionExpression: 'attribute_not_exists(attempts) OR attempts <= :most',
    ExpressionAttributeValues: { ':expires': Math.ceil((endMs + RETENTION_MS) / SECOND_MS), ':by': by, ':most': max - Math.max(by, 1) },
  };
  return { endMs, update };
};

/** Counts of quotas in the table `attempts`, such as those of keys, tickets, attachments and calls. */
export const createQuotaStore = (database: Database, table: string) => {
  const counts = createSlidingCounts(database, table);

  return {
    /** Counts an action of an hour or a day, in the transaction that does it. */
    toCount: (quota: Quota, nowMs: number, refused: () => Error): Write => ({
      item: { Update: updateOf(table, quota, nowMs).update },
      refused,
    }),

    /**
     * Counts an action of a minute, an hour or a day, unless there are too many. A minute slides, and other spans do if
     * the quota says so: no 60 seconds have more than the maximum.
     * @returns whether it was counted, and when the span ends or one more fits, in ms
     */
    count: async (quota: Quota, nowMs: number): Promise<{ isCounted: boolean; untilMs: number }> => {
      const { kind, span, account, max, by = 1, slides = span === 'minute' } = quota;
      if (slides) {
        const [id, windowMs] = [rowId(kind, span, hashOf(account)), SPANS_MS[span]];
        const seconds = await counts.count({ id, max: Math.floor(max / by), windowMs }, nowMs);
        return { isCounted: seconds === undefined, untilMs: nowMs + (seconds === undefined ? windowMs : seconds * SECOND_MS) };
      }
      const { endMs: untilMs, update } = updateOf(table, quota, nowMs);
      return { isCounted: await isWritten(database.update(update)), untilMs };
    },
  };
};

export type QuotaStore = ReturnType<typeof createQuotaStore>;
