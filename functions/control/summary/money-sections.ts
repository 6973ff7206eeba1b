import { availableNanosOf, countedNanosAt, isPrepaid, limitsOf, nanosOfStored } from '../../../shared/admission/item/limiter-item.ts';
import { mergeShards } from '../../../shared/admission/plans/merge-shards.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import type { OrganizationReads } from './summary-reads.ts';
import type { BudgetSection, CreditSection } from './summary-resource.ts';

/** Reads the prepaid credit that is left. */
export const creditSection = async ({ limiter }: OrganizationReads): Promise<CreditSection> => {
  const [own, ...others] = await limiter();
  if (!own) return { prepaid: false, balance: '0' };
  return { prepaid: isPrepaid(own), balance: dollarsOf(availableNanosOf(mergeShards([own, ...others]))) };
};

const NO_BUDGET: BudgetSection = { month_budget: null, spent: null, left: null };

/** Reads the organization's budget of the month, and what counts against it. */
export const budgetSection = async ({ actor, limiter }: OrganizationReads): Promise<BudgetSection> => {
  const [own, ...others] = await limiter();
  if (!own) return NO_BUDGET;
  const whole = mergeShards([own, ...others]);
  // While a change is spread over the shards, the sum of their parts is neither the old nor the new budget.
  const { month } = own.pending ? nanosOfStored(own.pending) : limitsOf(whole).budgets;
  if (month === undefined) return NO_BUDGET;
  const { month: spent } = countedNanosAt(whole, actor.origin.nowMs);
  return { month_budget: dollarsOf(month), spent: dollarsOf(spent), left: dollarsOf(spent < month ? month - spent : 0n) };
};
