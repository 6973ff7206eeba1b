import { DAY_MS } from '../../time/units.ts';
import { type LimiterItem, moneyCountersAt, type StoredNanos } from '../item/limiter-item.ts';

/** Nano-dollars that a limiter has counted, by the attribute of the counter or of its credit. */
export type MoneyCounts = ReadonlyMap<string, bigint>;

/** The attribute with the prepaid credit that is neither spent nor held. */
export const CREDIT = 'avail';

/**
 * The counters that requests which end now can still change: those of today, yesterday, this month and the last, and
 * the total.
 */
export const currentMoneyCounters = (nowMs: number): Set<string> => {
  const now = new Date(nowMs);
  const lastMonthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0);
  return new Set(
    [nowMs, nowMs - DAY_MS, lastMonthMs].flatMap((ms) => {
      const { day, month, total } = moneyCountersAt(ms);
      return ms === lastMonthMs ? [month] : [day, month, total];
    }),
  );
};

/** The sums of all items of a key or organization. */
export const moneyCountsOf = (items: readonly LimiterItem[], counters: Iterable<string>): MoneyCounts =>
  new Map(
    [...counters].map((name) => [
      name,
      items.reduce((sum, item) => sum + BigInt((item as unknown as Record<string, StoredNanos | undefined>)[name] ?? 0), 0n),
    ]),
  );

/** An update that adds corrections to an item's counts, if it has not counted anything since it was read. */
export const toCorrect = (read: LimiterItem, corrections: MoneyCounts) => {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const add: string[] = [];
  const clauses = ['attribute_exists(id)'];
  for (const [i, [name, nanos]] of [...corrections].entries()) {
    names[`#c${i}`] = name;
    values[`:c${i}`] = nanos;
    add.push(`#c${i} :c${i}`);
    const known = (read as unknown as Record<string, StoredNanos | undefined>)[name];
    if (known === undefined) clauses.push(`attribute_not_exists(#c${i})`);
    else {
      values[`:k${i}`] = known;
      clauses.push(`#c${i} = :k${i}`);
    }
  }
  return {
    UpdateExpression: `ADD ${add.join(', ')}`,
    ConditionExpression: clauses.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
};
