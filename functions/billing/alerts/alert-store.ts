import * as z from 'zod';
import type { Database } from '../../../shared/database/database.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Nanos } from '../../../shared/usage/event.ts';

/** The organization was already alerted to this threshold, for the same budget and period. */
export class AlreadyAlerted extends Error {}

/** The highest threshold of a limit for which an organization was alerted in a period. One row a limit. */
export interface Alert {
  organization: string;
  /** The limit's name, such as `key_…#month` or `credit`. */
  limit: string;
  /** Such as `2026-11`. */
  period: string;
  /** Percent. */
  threshold: number;
  /** For budgets only: after a change of the budget, its thresholds notify again. Rows of release 0.1.0 lack it. */
  budgetNanos?: bigint;
  /** The period has ended: nothing of a later one was alerted, and a change of the budget no longer counts. */
  hasEnded?: boolean;
}

// Credit thresholds are percentages of the credit that was available after the last grant.
const CreditBaseline = z.object({
  /** The number of ledger entries included in the balance. */
  entries: z.int(),
  /** The number of the last grant; each grant begins a period. */
  grant: z.int(),
  baseline_nanos: Nanos,
});
export type CreditBaseline = z.output<typeof CreditBaseline>;

const IS_NEW = 'attribute_not_exists(account) OR period <> :period OR threshold < :threshold';
// The names of days and months sort by time.
const IS_NEW_OF_ENDED = 'attribute_not_exists(account) OR period < :period OR (period = :period AND threshold < :threshold)';
const IS_OTHER_BUDGET = 'attribute_exists(budget_nanos) AND budget_nanos <> :budget_nanos';
const BASELINE = 'credit-baseline';

/** The store of sent alerts and credit baselines, in the table `billing`. */
export const createAlertStore = (database: Database, table: string) => ({
  /** Stores an alert. Fails with AlreadyAlerted if its threshold, period and budget were alerted before. */
  toNote: ({ organization, limit, period, threshold, budgetNanos, hasEnded = false }: Alert): Write => {
    const isOfBudget = budgetNanos !== undefined;
    const ofCurrent = isOfBudget ? `${IS_NEW} OR (${IS_OTHER_BUDGET})` : IS_NEW;
    return {
      item: {
        Put: {
          TableName: table,
          Item: { account: organization, record: `alert#${limit}`, period, threshold, ...(isOfBudget && { budget_nanos: budgetNanos }) },
          ConditionExpression: hasEnded ? IS_NEW_OF_ENDED : ofCurrent,
          ExpressionAttributeValues: {
            ':period': period,
            ':threshold': threshold,
            ...(isOfBudget && !hasEnded && { ':budget_nanos': budgetNanos }),
          },
        },
      },
      refused: () => new AlreadyAlerted(),
    };
  },

  baseline: async (organization: string): Promise<CreditBaseline | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: { account: organization, record: BASELINE }, ConsistentRead: true });
    return Item && CreditBaseline.parse(Item);
  },

  setBaseline: async (organization: string, baseline: CreditBaseline): Promise<void> => {
    await database.put({ TableName: table, Item: { account: organization, record: BASELINE, ...baseline } });
  },
});

export type AlertStore = ReturnType<typeof createAlertStore>;
