import { endOfMonth, monthOf, startOfMonth } from '../../../shared/billing/month.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { seesOnlyOwn } from '../access/actor.ts';
import { boundedRows } from './bounded-rows.ts';
import type { OrganizationReads } from './summary-reads.ts';
import type { CostsSection } from './summary-resource.ts';

/** Nano-dollars by UTC day, such as `2026-11-21`. */
export type DayCosts = ReadonlyMap<string, bigint>;

const DAY_OF_MONTH = 8;

// Rounded half up.
const forecastOf = (spentNanos: bigint, month: string, nowMs: number): bigint | undefined => {
  const elapsedMs = BigInt(nowMs - startOfMonth(month));
  const lengthMs = BigInt(endOfMonth(month) - startOfMonth(month));
  return elapsedMs < BigInt(DAY_MS) ? undefined : (spentNanos * lengthMs + elapsedMs / 2n) / elapsedMs;
};

/** Sums the costs of this month and the last one. The forecast goes on as the elapsed part of the month. */
export const costsOf = (costs: DayCosts, nowMs: number): CostsSection => {
  const [today, month] = [dayOf(nowMs), monthOf(nowMs)];
  const lastMonth = monthOf(startOfMonth(month) - DAY_MS);
  const sumOf = (of: string, lastDay = '31'): bigint =>
    [...costs].filter(([day]) => day.startsWith(of) && day.slice(DAY_OF_MONTH) <= lastDay).reduce((sum, [, nanos]) => sum + nanos, 0n);
  const spent = sumOf(month);
  const forecast = forecastOf(spent, month, nowMs);
  return {
    month,
    today: dollarsOf(costs.get(today) ?? 0n),
    month_to_date: dollarsOf(spent),
    last_month_to_same_day: dollarsOf(sumOf(lastMonth, today.slice(DAY_OF_MONTH))),
    last_month: dollarsOf(sumOf(lastMonth)),
    forecast: forecast === undefined ? null : dollarsOf(forecast),
  };
};

/** Reads the costs that the actor can see. GPU time belongs to no API key, so members don't see it. */
export const costsSection = async ({ deps, actor, organization, ownKeys }: OrganizationReads): Promise<CostsSection> => {
  const { nowMs } = actor.origin;
  const fromMs = startOfMonth(monthOf(startOfMonth(monthOf(nowMs)) - DAY_MS));
  const keys = await ownKeys();
  const costs = new Map<string, bigint>();
  const add = (day: string, nanos: bigint): void => void costs.set(day, (costs.get(day) ?? 0n) + nanos);
  const addTokens = async (): Promise<void> => {
    const query = { organization, span: 'day', detail: keys ? 'key' : 'model', fromMs, toMs: nowMs } as const;
    for await (const { startMs, keyId, totals } of boundedRows(deps.organizationTotals.list(query)))
      if (!keys || keys.has(keyId ?? '')) add(dayOf(startMs), totals.cost_nanos);
  };
  const addGpuTime = async (): Promise<void> => {
    if (seesOnlyOwn(actor)) return;
    const days = deps.gpuEvents.listDays(organization, dayOf(fromMs), dayOf(nowMs));
    for await (const { day, costNanos } of boundedRows(days)) add(day, costNanos);
  };
  await Promise.all([addTokens(), addGpuTime()]);
  return costsOf(costs, nowMs);
};
