import type { LimiterReader } from '../../../../shared/admission/stores/limiter-reader.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import type { OrganizationDirectory } from '../../../../shared/billing/organization-directory.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { type OrganizationTotals, SPAN_MS } from '../../../../shared/usage/organization-totals.ts';
import type { OrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { mergeTotals, noTotals, type Totals } from '../../../../shared/usage/totals.ts';

export interface TopStores {
  organizations: Pick<OrganizationDirectory, 'ids'>;
  totals: Pick<OrganizationTotalsStore, 'list'>;
  limiters: Pick<LimiterReader, 'get' | 'getMany'>;
}

/** Usage of a model by a key in the shown minute. */
export interface TopRow {
  model: string | null;
  keyId: string;
  totals: Totals;
  /** All requests of the key in flight now, whatever their model. */
  inFlight: number;
}

/** The totals of the newest minute with usage, by model and key. */
export interface NewestMinute {
  /** undefined: no usage in the last minutes. */
  startMs: number | undefined;
  /** The rows with the most requests, the largest first. */
  rows: TopRow[];
  /** The number of rows that are left out. */
  others: number;
  whole: Totals;
  /** There are more organizations than were read. */
  isPartial: boolean;
}

// The stream delivers totals within about a minute of the requests.
const SEARCHED_MINUTES = 4;
const MAX_ORGANIZATIONS = 500;
const ORGANIZATIONS_AT_ONCE = 16;
const MAX_ROWS = 20;
const KEYS_AT_ONCE = 4;

const organizationsOf = async ({ organizations }: TopStores, named: string | undefined): Promise<{ ids: string[]; isPartial: boolean }> => {
  if (named !== undefined) return { ids: [named], isPartial: false };
  const ids: string[] = [];
  for await (const id of organizations.ids()) {
    if (ids.length === MAX_ORGANIZATIONS) return { ids, isPartial: true };
    ids.push(id);
  }
  return { ids, isPartial: false };
};

const recentTotals = async ({ totals }: TopStores, ids: readonly string[], nowMs: number): Promise<OrganizationTotals[]> => {
  const minuteMs = Math.floor(nowMs / SPAN_MS.minute) * SPAN_MS.minute;
  const range = { fromMs: minuteMs - (SEARCHED_MINUTES - 1) * SPAN_MS.minute, toMs: minuteMs + SPAN_MS.minute };
  const found: OrganizationTotals[] = [];
  const failures = await inParallel(ids, ORGANIZATIONS_AT_ONCE, async (organization) => {
    for await (const row of totals.list({ organization, span: 'minute', detail: 'key', ...range })) found.push(row);
  });
  throwFailures(failures);
  return found;
};

const byModelAndKey = (found: readonly OrganizationTotals[]): Omit<TopRow, 'inFlight'>[] =>
  [...Map.groupBy(found, ({ model, keyId }) => JSON.stringify([model, keyId])).values()].map((rows) => ({
    model: rows[0]?.model ?? null,
    keyId: rows[0]?.keyId ?? '',
    totals: rows.map(({ totals }) => totals).reduce(mergeTotals),
  }));

const inFlightOf = async ({ limiters }: TopStores, keyIds: readonly string[]): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  const failures = await inParallel(keyIds, KEYS_AT_ONCE, async (id) => {
    const items = await readAllShards(limiters, id);
    counts.set(
      id,
      items.reduce((sum, { fl }) => sum + Object.keys(fl).length, 0),
    );
  });
  throwFailures(failures);
  return counts;
};

/** The newest minute of the last four in which an organization, or any, has usage. Its totals can still grow. */
export const newestMinute = async (stores: TopStores, organization: string | undefined, nowMs: number): Promise<NewestMinute> => {
  const { ids, isPartial } = await organizationsOf(stores, organization);
  const recent = await recentTotals(stores, ids, nowMs);
  if (recent.length === 0) return { startMs: undefined, rows: [], others: 0, whole: noTotals(), isPartial };
  const startMs = Math.max(...recent.map((row) => row.startMs));
  const rows = byModelAndKey(recent.filter((row) => row.startMs === startMs)).sort((a, b) => b.totals.requests - a.totals.requests);
  const shown = rows.slice(0, MAX_ROWS);
  const inFlight = await inFlightOf(stores, [...new Set(shown.map(({ keyId }) => keyId))]);
  return {
    startMs,
    rows: shown.map((row) => ({ ...row, inFlight: inFlight.get(row.keyId) ?? 0 })),
    others: rows.length - shown.length,
    whole: rows.map(({ totals }) => totals).reduce(mergeTotals, noTotals()),
    isPartial,
  };
};
