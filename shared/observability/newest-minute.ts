import { inFlightOf, shardsOf } from '../admission/item/limiter-item.ts';
import { ownerIdOf, shardIds } from '../admission/item/shards.ts';
import type { LimiterReader } from '../admission/stores/limiter-reader.ts';
import { inParallel, throwFailures } from '../database/in-parallel.ts';
import { type OrganizationTotals, SPAN_MS } from '../usage/organization-totals.ts';
import type { OrganizationTotalsStore } from '../usage/organization-totals-store.ts';
import { mergeTotals, noTotals, type Totals } from '../usage/totals.ts';

export interface MinuteStores {
  organizations: { ids: () => AsyncIterable<string> };
  totals: Pick<OrganizationTotalsStore, 'list'>;
  limiters: Pick<LimiterReader, 'getMany'>;
}

/** Selects the usage of a minute. */
export interface MinuteQuery {
  /** undefined: of all organizations. */
  organization: string | undefined;
  /** Only of these API keys; undefined: of all. */
  keys?: ReadonlySet<string> | undefined;
  /** How many organizations are read at most. */
  maxOrganizations: number;
}

/** Usage of a model by a key in a minute. */
export interface MinuteRow {
  organization: string;
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
  rows: MinuteRow[];
  /** The number of rows that are left out. */
  others: number;
  whole: Totals;
  /** There are more organizations than were read. */
  isPartial: boolean;
}

// The stream delivers totals within about a minute of the requests.
const SEARCHED_MINUTES = 4;
const ORGANIZATIONS_AT_ONCE = 16;
/** The most rows of a minute. */
export const MAX_MINUTE_ROWS = 20;

const organizationsOf = async (
  { organizations }: MinuteStores,
  { organization, maxOrganizations }: MinuteQuery,
): Promise<{ ids: string[]; isPartial: boolean }> => {
  if (organization !== undefined) return { ids: [organization], isPartial: false };
  const ids: string[] = [];
  for await (const id of organizations.ids()) {
    if (ids.length === maxOrganizations) return { ids, isPartial: true };
    ids.push(id);
  }
  return { ids, isPartial: false };
};

const recentTotals = async (
  { totals }: MinuteStores,
  ids: readonly string[],
  { keys }: MinuteQuery,
  nowMs: number,
): Promise<OrganizationTotals[]> => {
  const minuteMs = Math.floor(nowMs / SPAN_MS.minute) * SPAN_MS.minute;
  const range = { fromMs: minuteMs - (SEARCHED_MINUTES - 1) * SPAN_MS.minute, toMs: minuteMs + SPAN_MS.minute };
  const found: OrganizationTotals[] = [];
  const failures = await inParallel(ids, ORGANIZATIONS_AT_ONCE, async (organization) => {
    for await (const row of totals.list({ organization, span: 'minute', detail: 'key', ...range }))
      if (!keys || keys.has(row.keyId ?? '')) found.push(row);
  });
  throwFailures(failures);
  return found;
};

const byModelAndKey = (found: readonly OrganizationTotals[]): Omit<MinuteRow, 'inFlight'>[] =>
  [...Map.groupBy(found, ({ model, keyId }) => JSON.stringify([model, keyId])).values()].map(([first, ...others]) => ({
    organization: first?.organization ?? '',
    model: first?.model ?? null,
    keyId: first?.keyId ?? '',
    totals: others.map(({ totals }) => totals).reduce(mergeTotals, first?.totals ?? noTotals()),
  }));

// Two reads, or some more if the keys have very many shards.
const requestsInFlight = async ({ limiters }: MinuteStores, keyIds: readonly string[]): Promise<Map<string, number>> => {
  const own = await limiters.getMany(keyIds);
  const others = await limiters.getMany(own.flatMap((item) => shardIds(item.id, shardsOf(item)).slice(1)));
  const counts = new Map<string, number>();
  for (const item of [...own, ...others]) {
    const key = ownerIdOf(item.id);
    counts.set(key, (counts.get(key) ?? 0) + inFlightOf(item));
  }
  return counts;
};

/** The newest minute of the last four in which an organization, or any, has usage. Its totals can still grow. */
export const newestMinute = async (stores: MinuteStores, query: MinuteQuery, nowMs: number): Promise<NewestMinute> => {
  const { ids, isPartial } = await organizationsOf(stores, query);
  const recent = await recentTotals(stores, ids, query, nowMs);
  if (recent.length === 0) return { startMs: undefined, rows: [], others: 0, whole: noTotals(), isPartial };
  const startMs = Math.max(...recent.map((row) => row.startMs));
  const rows = byModelAndKey(recent.filter((row) => row.startMs === startMs)).sort((a, b) => b.totals.requests - a.totals.requests);
  const shown = rows.slice(0, MAX_MINUTE_ROWS);
  const inFlight = await requestsInFlight(stores, [...new Set(shown.map(({ keyId }) => keyId))]);
  return {
    startMs,
    rows: shown.map((row) => ({ ...row, inFlight: inFlight.get(row.keyId) ?? 0 })),
    others: rows.length - shown.length,
    whole: rows.map(({ totals }) => totals).reduce(mergeTotals, noTotals()),
    isPartial,
  };
};
