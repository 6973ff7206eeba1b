import * as z from 'zod';
import { Nanos } from '../../../shared/usage/event.ts';

/** The highest threshold of a limit that a period has reached. */
export interface Alert {
  organization: string;
  /** The limit's name, such as `key_…#month` or `credit`. */
  limit: string;
  /** Such as `2026-11`. */
  period: string;
  /** Percent. */
  threshold: number;
  /** For budgets only: after a change of the budget, its thresholds notify again. */
  budgetNanos?: bigint;
  /** The period has ended, so a change of the budget no longer counts. */
  hasEnded?: boolean;
}

const PeriodAlert = z.object({ period: z.string(), threshold: z.number() });

/** The highest thresholds of a limit that were reported in the last period, and in the one before. */
export const LastAlerts = PeriodAlert.extend({
  budget_nanos: Nanos.optional(),
  /** Null: there was none. Rows of release 0.1.0 lack it and the version. */
  before: PeriodAlert.nullable().optional(),
  version: z.int().optional(),
});
export type LastAlerts = z.output<typeof LastAlerts>;

const isOtherBudget = ({ budget_nanos }: LastAlerts, { budgetNanos, hasEnded }: Alert): boolean =>
  !hasEnded && budget_nanos !== undefined && budgetNanos !== undefined && budget_nanos !== budgetNanos;

/**
 * The last alerts of a limit with another one; undefined if its organization was notified of it before. An ended
 * period can come after an alert of the next one, because its last requests end later.
 */
export const withAlert = (known: LastAlerts | undefined, alert: Alert): LastAlerts | undefined => {
  const { period, threshold, budgetNanos, hasEnded } = alert;
  const last = { period, threshold, ...(budgetNanos !== undefined && { budget_nanos: budgetNanos }) };
  if (!known) return { ...last, before: null };
  if (known.period === period)
    return known.threshold < threshold || isOtherBudget(known, alert) ? { ...last, before: known.before } : undefined;
  // The names of days and months sort by time.
  if (!hasEnded || known.period < period) return { ...last, before: { period: known.period, threshold: known.threshold } };
  const { before } = known;
  const isNew =
    before === null || (before !== undefined && (before.period < period || (before.period === period && before.threshold < threshold)));
  return isNew ? { ...known, before: { period, threshold } } : undefined;
};
