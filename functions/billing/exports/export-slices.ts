import { ownerIdOf } from '../../../shared/admission/item/shards.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { BillingFiles } from '../../../shared/billing/billing-files.ts';
import type { EventExport } from '../../../shared/billing/export.ts';
import { endOfMonth, monthOf, nextMonth, startOfMonth } from '../../../shared/billing/month.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { RollupStore } from '../../../shared/usage/rollup-store.ts';
import { loadDay } from '../close/day-file.ts';

// Rollups can be late, so recent days are read even if they have none.
const ROLLUPS_LATE_MS = DAY_MS;
const PER_MILLE = 1_000;

/**
 * A part of an export that is read at once. Slices sort by `id`: by month, then keys before deployments before the
 * invoice, each by its id and day.
 */
export interface ExportSlice {
  id: string;
  month: string;
  kind: 'key' | 'deployment' | 'invoice';
  /** The id of the key or deployment; empty for the invoice of the month. */
  of: string;
  day: string;
  /** The share of the export that comes before it, in per mille. */
  progress: number;
}

export interface SliceDependencies {
  limiters: Pick<LimiterStore, 'listByOrganization'>;
  rollups: Pick<RollupStore, 'listDays'>;
  gpuEvents: Pick<GpuEventStore, 'listDays'>;
  billedMonths: Pick<BilledMonthsStore, 'get'>;
  files: BillingFiles;
  now: () => number;
}

type Range = Pick<EventExport, 'from_ms' | 'to_ms'>;

interface MonthPart {
  month: string;
  /** UTC days, both inclusive. */
  from: string;
  to: string;
  isWhole: boolean;
}

const monthsOf = ({ from_ms, to_ms }: Range): MonthPart[] => {
  const months = [];
  for (let month = monthOf(from_ms); startOfMonth(month) < to_ms; month = nextMonth(month)) {
    const [start, end] = [startOfMonth(month), endOfMonth(month)];
    months.push({
      month,
      from: dayOf(Math.max(start, from_ms)),
      to: dayOf(Math.min(end, to_ms) - 1),
      isWhole: from_ms <= start && end <= to_ms,
    });
  }
  return months;
};

// Rows of a filtered export don't add up to invoices.
const isUnfiltered = ({ api_key_ids, models }: EventExport): boolean => api_key_ids === null && models === null;

const keysOf = async ({ limiters }: SliceDependencies, organization: string): Promise<string[]> => {
  const limiterIds = await Array.fromAsync(limiters.listByOrganization(organization));
  return limiterIds.filter((id) => id.startsWith(prefixes.key)).map(ownerIdOf);
};

// The days on which an invoice has counted events of a key, which the totals can lack.
const billedDays = async (
  { billedMonths, files }: SliceDependencies,
  organization: string,
  { month, from, to }: MonthPart,
): Promise<Map<string, string[]>> => {
  const days = new Map<string, string[]>();
  const billed = Object.entries((await billedMonths.get(organization, month))?.days ?? {});
  for (const [day, read] of billed.filter(([each]) => each >= from && each <= to))
    for (const { id } of (await loadDay(files, organization, day, read))?.sources ?? [])
      if (id.startsWith(prefixes.key)) days.set(id, [...(days.get(id) ?? []), day]);
  return days;
};

const daysOf = async (
  { rollups, now }: SliceDependencies,
  keyId: string,
  { from, to }: MonthPart,
  billed: readonly string[] = [],
): Promise<string[]> => {
  const days = new Set(billed);
  for await (const { day } of rollups.listDays(keyId, from, to)) days.add(day);
  const first = Math.max(Date.parse(from), Date.parse(dayOf(now() - ROLLUPS_LATE_MS)));
  // Reading a day is 144 queries or more, and days to come have no events.
  const last = Math.min(Date.parse(to), now());
  for (let ms = first; ms <= last; ms += DAY_MS) days.add(dayOf(ms));
  return [...days].sort();
};

/**
 * The slices of an export in their order.
 * @param after the id of the first slice to list; reading begins with its month
 */
export async function* slicesOf(deps: SliceDependencies, wanted: EventExport, after = ''): AsyncGenerator<ExportSlice> {
  const { organization, api_key_ids } = wanted;
  const limited = await keysOf(deps, organization);
  const months = monthsOf(wanted);
  const isFocus = wanted.format === 'focus';
  for (const [m, part] of months.entries()) {
    const { month, from, to, isWhole } = part;
    if (`${month}/~` < after) continue;
    const billed = await billedDays(deps, organization, part);
    const keys = [...new Set([...limited, ...billed.keys()])].filter((id) => api_key_ids === null || api_key_ids.includes(id)).sort();
    const progressAt = (key: number): number => Math.floor((PER_MILLE * (m + key / (keys.length + 1))) / months.length);
    for (const [k, of] of keys.entries()) {
      if (`${month}/1/${of}/~` < after) continue;
      for (const day of await daysOf(deps, of, part, billed.get(of)))
        yield { id: `${month}/1/${of}/${day}`, month, kind: 'key', of, day, progress: progressAt(k) };
    }
    if (!isFocus || !isUnfiltered(wanted)) continue;
    const days = new Set<string>();
    for await (const { deploymentId, day } of deps.gpuEvents.listDays(organization, from, to)) days.add(`${deploymentId}/${day}`);
    for (const place of [...days].sort()) {
      const [of = '', day = ''] = place.split('/');
      yield { id: `${month}/2/${place}`, month, kind: 'deployment', of, day, progress: progressAt(keys.length) };
    }
    if (isWhole) yield { id: `${month}/3`, month, kind: 'invoice', of: '', day: to, progress: progressAt(keys.length) };
  }
}
