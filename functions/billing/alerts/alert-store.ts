import * as z from 'zod';
import type { Database } from '../../../shared/database/database.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Nanos } from '../../../shared/usage/event.ts';

/** The organization was alerted of this threshold, of the same budget, in this period already. */
export class AlreadyAlerted extends Error {}

/** The highest threshold of a limit of which an organization was alerted in a period. */
export interface Alert {
  organization: string;
  /** What is limited, such as `key_…#month`. There is one row for each, so that rows don't grow in number. */
  limit: string;
  /** Such as `2026-11`. */
  period: string;
  /** Percent. */
  threshold: number;
  /**
   * Of an alert about a budget: after a change of the budget, its thresholds notify again. Rows of release 0.1.0 lack
   * it.
   */
  budgetNanos?: bigint;
}

/** The available credit from which percentages are counted: what there was after the last grant. */
const CreditBaseline = z.object({
  /** The number of ledger entries that were in the balance then. */
  entries: z.int(),
  /** The number of the last grant, which begins a period. */
  grant: z.int(),
  baseline_nanos: Nanos,
});
export type CreditBaseline = z.output<typeof CreditBaseline>;

/** Another period, or a higher threshold. */
const IS_NEW = 'attribute_not_exists(account) OR period <> :period OR threshold < :threshold';
const IS_OTHER_BUDGET = 'attribute_exists(budget_nanos) AND budget_nanos <> :budget_nanos';
const BASELINE = 'credit-baseline';

/** What alerts remember, in the table `billing`. */
export const createAlertStore = (database: Database, table: string) => ({
  /** Notes an alert, once for each threshold, period and amount of a budget: fails with AlreadyAlerted otherwise. */
  toNote: ({ organization, limit, period, threshold, budgetNanos }: Alert): Write => {
    const isOfBudget = budgetNanos !== undefined;
    return {
      item: {
        Put: {
          TableName: table,
          Item: { account: organization, record: `alert#${limit}`, period, threshold, ...(isOfBudget && { budget_nanos: budgetNanos }) },
          ConditionExpression: isOfBudget ? `${IS_NEW} OR (${IS_OTHER_BUDGET})` : IS_NEW,
          ExpressionAttributeValues: {
            ':period': period,
            ':threshold': threshold,
            ...(isOfBudget && { ':budget_nanos': budgetNanos }),
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
