import { availableNanosOf, entriesOf, isPrepaid, type LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { mergeShards } from '../../../shared/admission/plans/merge-shards.ts';
import type { LimiterReader } from '../../../shared/admission/stores/limiter-reader.ts';
import { readAllShards } from '../../../shared/admission/stores/reservation.ts';
import type { BillingProfile } from '../../../shared/billing/billing-profile.ts';
import { type CreditStore, isGrant } from '../../../shared/credit/credit-store.ts';
import { heldForDeployments } from '../../../shared/credit/held-credit.ts';
import type { Database } from '../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import { type NotificationType, newNotification } from '../../../shared/notifications/notification.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { AlertedMeanwhile, type AlertStore, type CreditBaseline } from './alert-store.ts';
import { type BudgetUse, budgetUseOf } from './budget-use.ts';
import { type Alert, withAlert } from './last-alerts.ts';
import { thresholdReached } from './threshold.ts';

export interface AlertDependencies {
  database: Database;
  limiters: Pick<LimiterReader, 'get' | 'getMany'>;
  credit: Pick<CreditStore, 'list'>;
  deployments: Pick<DeploymentStore, 'list'>;
  alerts: AlertStore;
  outbox: Outbox;
  /** The thresholds of an organization. */
  profileOf: (organization: string) => Promise<Pick<BillingProfile, 'budget_thresholds' | 'credit_thresholds'>>;
  now: () => number;
}

const PARALLEL_LIMITERS = 16;

const readWhole = async (limiters: AlertDependencies['limiters'], id: string): Promise<LimiterItem | undefined> => {
  const [own, ...others] = await readAllShards(limiters, id);
  return own && mergeShards([own, ...others]);
};

// Evaluations of an organization can run at the same time.
const MAX_NOTIFY_ATTEMPTS = 5;

const notify = async (
  { database, alerts, outbox, now }: AlertDependencies,
  alert: Alert,
  { type, subject, data }: { type: NotificationType; subject: string; data: Record<string, unknown> },
): Promise<void> => {
  const { organization, limit, threshold } = alert;
  for (let attempt = 1; ; attempt++) {
    const known = await alerts.find(organization, limit);
    const next = withAlert(known, alert);
    if (!next) return;
    const notification = newNotification({ type, organization, subject, at: now(), data: { threshold, ...data } });
    try {
      return await transact(database, [alerts.toReplace(alert, known, next), outbox.toEmit(notification)]);
    } catch (error) {
      if (!(error instanceof AlertedMeanwhile) || attempt === MAX_NOTIFY_ATTEMPTS) throw error;
    }
  }
};

const isProject = (owner: string): boolean => owner.startsWith(prefixes.project);

const alertOfBudget = async (
  deps: AlertDependencies,
  organization: string,
  owner: string,
  { period, periodId, budgetNanos, spentNanos, hasEnded }: BudgetUse,
  percentages: readonly number[],
): Promise<void> => {
  const threshold = thresholdReached(spentNanos, budgetNanos, percentages);
  if (threshold === undefined) return;
  const data = {
    api_key: owner === organization || isProject(owner) ? null : owner,
    project: isProject(owner) ? owner : null,
    period,
    budget: dollarsOf(budgetNanos),
    spent: dollarsOf(spentNanos),
  };
  const alert = { organization, limit: `${owner}#${period}`, period: periodId, threshold, budgetNanos, hasEnded };
  await notify(deps, alert, { type: 'sluice.budget.threshold_reached.v1', subject: owner, data });
};

const heldFromCredit = (item: LimiterItem): bigint =>
  entriesOf(item).reduce((held, [, { isFromCredit, holdNanos }]) => (isFromCredit ? held + holdNanos : held), 0n);

const currentBaseline = async (
  { alerts, credit }: AlertDependencies,
  organization: string,
  { grants: entries = 0 }: LimiterItem,
  leftNanos: bigint,
): Promise<CreditBaseline | undefined> => {
  const known = await alerts.baseline(organization);
  if (known?.entries === entries) return known;
  const applied = (await Array.fromAsync(credit.list(organization))).filter(({ number }) => number <= entries);
  const grant = applied.findLast(isGrant);
  if (!grant) return undefined;
  // Deductions and expiries don't begin a new period.
  const baseline = known?.grant === grant.number ? { ...known, entries } : { entries, grant: grant.number, baseline_nanos: leftNanos };
  await alerts.setBaseline(organization, baseline);
  return baseline;
};

const alertOfCredit = async (
  deps: AlertDependencies,
  organization: string,
  item: LimiterItem,
  percentages: readonly number[],
): Promise<void> => {
  // Credit that is held isn't spent yet.
  const leftNanos = availableNanosOf(item) + heldFromCredit(item) + (await heldForDeployments(deps.deployments, organization));
  const baseline = await currentBaseline(deps, organization, item, leftNanos);
  if (!baseline) return;
  const threshold = thresholdReached(baseline.baseline_nanos - leftNanos, baseline.baseline_nanos, percentages);
  if (threshold === undefined) return;
  const data = { available: dollarsOf(leftNanos), available_after_last_grant: dollarsOf(baseline.baseline_nanos) };
  const alert = { organization, limit: 'credit', period: `grant ${baseline.grant}`, threshold };
  await notify(deps, alert, { type: 'sluice.credit.threshold_reached.v1', subject: organization, data });
};

/**
 * Notifies an organization if its credit, its budget or a budget of one of these keys or projects has reached a
 * threshold. If several thresholds were passed since the last evaluation, only the highest is reported. Each is
 * reported once in a period, and again after the budget was changed. A period is still evaluated in the hour after its
 * end, because its last requests are added up then.
 */
export const evaluateAlerts = async (
  deps: AlertDependencies,
  { organization, keys, projects = [] }: { organization: string; keys: readonly string[]; projects?: readonly string[] | undefined },
): Promise<void> => {
  const { budget_thresholds, credit_thresholds } = await deps.profileOf(organization);
  const evaluate = async (owner: string): Promise<void> => {
    const item = await readWhole(deps.limiters, owner);
    if (item?.org !== organization) return;
    for (const use of budgetUseOf(item, deps.now())) await alertOfBudget(deps, organization, owner, use, budget_thresholds);
    if (owner === organization && isPrepaid(item)) await alertOfCredit(deps, organization, item, credit_thresholds);
  };
  throwFailures(await inParallel([organization, ...keys, ...projects], PARALLEL_LIMITERS, evaluate));
};
