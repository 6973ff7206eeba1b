import { isDeepStrictEqual } from 'node:util';
import { deploymentUsageOf } from '../../../../functions/rollup/deployment-days.ts';
import type { OrganizationRollups } from '../../../../functions/rollup/organization-rollup.ts';
import { rowsOf } from '../../../../functions/rollup/organization-rows.ts';
import { isSameUsage } from '../../../../shared/usage/deployment-day-store.ts';
import { DETAILS, type Detail, isExpired, SPAN_MS, SPANS, type TotalsSpan } from '../../../../shared/usage/organization-totals.ts';
import { type StoredRow, type TotalsRow, totalsRowId } from '../../../../shared/usage/organization-totals-store.ts';
import { abs, addDifference, type Differences } from './drift.ts';
import type { KeyRows } from './rebuild-key.ts';

/** Every row of an organization's day, by id. Rows that have expired are left out. */
export const readOrganization = async (
  { totals }: OrganizationRollups,
  organization: string,
  day: string,
  nowMs: number,
): Promise<Map<string, StoredRow>> => {
  const rows = new Map<string, StoredRow>();
  for (const span of SPANS.filter((each) => !hasExpired(each, day, nowMs)))
    for (const detail of DETAILS)
      for (const row of await totals.listRows({ organization, span, detail, ...rangeOf(day) })) rows.set(totalsRowId(row), row);
  return rows;
};

const rangeOf = (day: string) => ({ fromMs: Date.parse(day), toMs: Date.parse(day) + SPAN_MS.day });

// Rows of a day expire one after the other. From the first one on, none are rebuilt.
const hasExpired = (span: TotalsSpan, day: string, nowMs: number): boolean => isExpired(span, Date.parse(day), nowMs);

const rowsOfDay = (shards: readonly TotalsRow[], maxUsers: number | undefined, details: readonly Detail[]): TotalsRow[] => {
  const [minutes, tenMinutes] = (['minute', 'ten_minutes'] as const).map((span) => shards.filter((row) => row.span === span)) as [
    TotalsRow[],
    TotalsRow[],
  ];
  const sums = details.filter((detail) => detail !== 'user');
  return [
    ...(details.includes('user') ? shards : []),
    ...rowsOf(minutes, { span: 'minute', details: sums }),
    ...rowsOf(tenMinutes, { span: 'ten_minutes', details: sums }),
    ...rowsOf(tenMinutes, { span: 'hour', details, maxUsers }),
    ...rowsOf(tenMinutes, { span: 'day', details, maxUsers }),
  ];
};

const toKeyRow = ({ userId: _, shard: __, lastUser: ___, ...row }: TotalsRow): TotalsRow =>
  row.detail === 'user' ? { ...row, detail: 'key' } : row;

const rowsOfDayTotals = (shards: readonly TotalsRow[]): TotalsRow[] =>
  rowsOf(
    shards.filter(({ span }) => span === 'ten_minutes'),
    { span: 'day', details: ['model'] },
  );

// A missing row is no difference, because earlier versions wrote none.
const rebuildDeployments = async (
  { deploymentDays }: OrganizationRollups,
  keys: KeyRows,
  { drift, behind }: Differences,
): Promise<void> => {
  if (!deploymentDays) return;
  const late = new Map(deploymentUsageOf(rowsOfDayTotals(keys.late)).map(({ deployment, totals }) => [deployment, totals.events]));
  for (const usage of deploymentUsageOf(rowsOfDayTotals(keys.whole))) {
    const read = await deploymentDays.getUsage(usage);
    const { totals } = usage;
    if (read && isSameUsage(read, totals)) continue;
    await deploymentDays.replaceUsage(read, usage);
    if (!read) continue;
    const events = totals.events - read.events;
    const isLate = events > 0 && events <= (late.get(usage.deployment) ?? 0);
    if (isLate) {
      behind.rows++;
      behind.events += events;
      continue;
    }
    drift.rows++;
    drift.events += Math.abs(events);
    drift.cost_nanos += abs(totals.cost_nanos - read.cost_nanos);
  }
};

/**
 * Replaces the rows of an organization's day that differ from its events, and removes those without events.
 * @param stored as they were before the events were read
 */
export const rebuildOrganization = async (
  deps: OrganizationRollups,
  { day, stored, keys, nowMs }: { day: string; stored: Map<string, StoredRow>; keys: KeyRows; nowMs: number },
  differences: Differences,
): Promise<void> => {
  const { totals, maxUsers } = deps;
  const late = new Map(rowsOfDay(keys.late, maxUsers, ['model', 'key']).map((row) => [totalsRowId(row), row.totals.events]));
  for (const row of rowsOfDay(keys.whole, maxUsers, DETAILS)) {
    if (hasExpired(row.span, day, nowMs)) continue;
    const id = totalsRowId(row);
    const read = stored.get(id);
    stored.delete(id);
    if (read && isDeepStrictEqual(read.totals, row.totals)) continue;
    addDifference(differences, read, row.totals, late.get(totalsRowId(toKeyRow(row))) ?? 0);
    await totals.replace(read, row);
  }
  for (const row of stored.values()) {
    // A user who counts as one of the others is no mistake: nothing reads the row.
    if (!row.isFolded) addDifference(differences, row, undefined, 0);
    await totals.remove(row);
  }
  await rebuildDeployments(deps, keys, differences);
};
