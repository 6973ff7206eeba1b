import type { ReplyBody } from '../../client/routes.ts';
import { formatCount, formatMoney, fromUnits, sumOf, toUnits } from '../../design/format/amounts.ts';
import { faultsOf, type KeyDraft } from '../api-keys/key-draft.ts';

/** The usage of a key in a range of days, and of its limits now. */
export type KeyUsage = Pick<ReplyBody<'GET /v1/api-keys/{id}/usage'>, 'days' | 'cost' | 'now'>;
type Budget = 'day' | 'month' | 'total';

const BUDGETS = [
  ['day', 'today'],
  ['month', 'this month'],
  ['total', 'in total'],
] as const satisfies readonly (readonly [Budget, string])[];

// Without a budget only the days are known, which lag by some minutes.
const usedOf = ({ days, cost, now }: KeyUsage, period: Budget, today: string): string | undefined => {
  const budget = now.budgets[period];
  if (budget) return fromUnits(toUnits(budget.limit) - toUnits(budget.remaining));
  if (period === 'total') return undefined;
  return period === 'month' ? cost : sumOf(days.filter(({ day }) => day === today).map((of) => of.cost));
};

const effectOfBudget = (limit: string, used: string, time: string): string => {
  const spent = `${formatMoney(used)} used ${time}`;
  return toUnits(limit) <= toUnits(used) ? `${spent}. The key's requests will be rejected.` : `${spent}.`;
};

const effectOfConcurrency = (limit: string, inFlight: number): string => {
  const running = `${formatCount(inFlight)} in progress now`;
  return Number(limit) < inFlight ? `${running}. They continue, and new requests are rejected until some have finished.` : `${running}.`;
};

const effectOfRate = (limit: string, { limit: stored, remaining }: { limit: number; remaining: number }): string => {
  const used = stored - remaining;
  const counted = `${formatCount(used)} in the last minute`;
  return Number(limit) < used ? `${counted}. At this rate, some requests will be rejected.` : `${counted}.`;
};

/**
 * The effects of the limits of a form, in words, by field.
 * @param usage since the month's first day
 * @param today as `2026-11-26`, in UTC
 */
export const effectsOf = (draft: KeyDraft, usage: KeyUsage, today: string): Partial<Record<keyof KeyDraft, string>> => {
  const { now } = usage;
  const faults = faultsOf(draft);
  const effects: Partial<Record<keyof KeyDraft, string>> = {};
  if (draft.requestsPerMinute && !faults.requestsPerMinute)
    effects.requestsPerMinute = effectOfRate(draft.requestsPerMinute, now.requests_per_minute);
  if (draft.tokensPerMinute && !faults.tokensPerMinute)
    effects.tokensPerMinute = effectOfRate(draft.tokensPerMinute, now.tokens_per_minute);
  if (draft.concurrency && !faults.concurrency) effects.concurrency = effectOfConcurrency(draft.concurrency, now.concurrency.in_flight);
  for (const [period, time] of BUDGETS) {
    const used = usedOf(usage, period, today);
    if (draft[period] && !faults[period] && used !== undefined) effects[period] = effectOfBudget(draft[period], used, time);
  }
  return effects;
};
