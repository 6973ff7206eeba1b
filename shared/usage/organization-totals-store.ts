import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { foldUsers, groupIdOf, groupTotals, isNamed, type TotalsGroup } from './group-totals.ts';
import {
  type Detail,
  expiresAt,
  MAX_USERS,
  type OrganizationTotals,
  SPAN_MS,
  type TotalsQuery,
  type TotalsSpan,
} from './organization-totals.ts';
import { createRowStore, type Row, rowOf } from './row-store.ts';
import { StoredTotals, storedTotals } from './stored-totals.ts';

/**
 * One row of an organization's totals. Those of minutes and ten minutes by user are stored for each shard of a key,
 * because a shard's events are read together; all other rows are sums of these.
 */
export interface TotalsRow extends TotalsGroup {
  organization: string;
  span: TotalsSpan;
  detail: Detail;
  startMs: number;
  shard?: string;
}

/** A row as it was read. */
export interface StoredRow extends Row {
  /** Its user counts as `(other)` since there are more users. Nothing reads the row any more. */
  isFolded: boolean;
}

// A partition holds the spans of a UTC year, month or day: the first characters of the time at which a span starts.
const PERIOD_CHARACTERS: Readonly<Record<TotalsSpan, number>> = { minute: 10, ten_minutes: 10, hour: 7, day: 4 };

// `2026-11-21T16:40Z`.
const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`;
const TIME_CHARACTERS = timeOf(0).length;

const nextPeriodMs = (span: TotalsSpan, ms: number): number => {
  const at = new Date(ms);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  if (span === 'day') return Date.UTC(year + 1, 0);
  return span === 'hour' ? Date.UTC(year, month + 1) : Date.UTC(year, month, day + 1);
};

// `totals#org_1#hour#model#2026-11`.
const partitionOf = ({ organization, span, detail }: Omit<TotalsQuery, 'fromMs' | 'toMs'>, startMs: number): string =>
  `totals#${organization}#${span}#${detail}#${timeOf(startMs).slice(0, PERIOD_CHARACTERS[span])}`;

// Names are hashed, because a model, a route and a user together can be longer than a key may be.
const rowKeyOf = (row: Omit<TotalsRow, 'totals'>) => {
  const hash = createHash('sha256')
    .update(`${row.shard ?? ''} ${groupIdOf(row)}`)
    .digest('base64url')
    .slice(0, 22);
  return { usage_bucket: partitionOf(row, row.startMs), usage_event: `${timeOf(row.startMs)}#${hash}` };
};

/** A row's key as one string. */
export const totalsRowId = (row: Row | Omit<TotalsRow, 'totals'>): string => {
  const { usage_bucket, usage_event } = 'key' in row ? row.key : rowKeyOf(row);
  return `${usage_bucket} ${usage_event}`;
};

const itemOf = (row: TotalsRow) => ({
  ...rowKeyOf(row),
  ...(row.model !== null && { model: row.model }),
  ...(row.route !== null && { route: row.route }),
  ...(row.deployment !== null && { deployment: row.deployment }),
  ...(row.split && { alias: row.split.alias, side: row.split.side }),
  ...(row.keyId !== undefined && { key_id: row.keyId }),
  ...(row.projectId !== undefined && { project_id: row.projectId }),
  ...(row.userId != null && { end_user: row.userId }),
  ...(row.shard !== undefined && { shard: row.shard }),
  ...(row.lastUser !== undefined && { last_user: row.lastUser }),
  ...(row.span !== 'day' && { expires_at: expiresAt(row.span, row.startMs) }),
  ...storedTotals(row.totals),
});

const StoredNames = z.object({
  usage_event: z.string(),
  model: z.string().nullable().default(null),
  route: z.string().nullable().default(null),
  deployment: z.string().nullable().default(null),
  alias: z.string().optional(),
  side: z.enum(['base', 'new']).optional(),
  key_id: z.string().optional(),
  project_id: z.string().optional(),
  end_user: z.string().nullable().default(null),
  shard: z.string().default(''),
  last_user: z.string().optional(),
});

type Names = Omit<TotalsGroup, 'totals'> & { startMs: number; shard: string };
type StoredGroup = TotalsGroup & Names;

const namesOf = (stored: z.output<typeof StoredNames>, detail: Detail): Names => {
  const { usage_event, alias, side, key_id, project_id, end_user, last_user, ...names } = stored;
  return {
    ...names,
    startMs: Date.parse(usage_event.slice(0, TIME_CHARACTERS)),
    ...(alias !== undefined && side && { split: { alias, side } }),
    ...(key_id !== undefined && { keyId: key_id }),
    ...(project_id !== undefined && { projectId: project_id }),
    ...(detail === 'user' && { userId: end_user }),
    ...(last_user !== undefined && { lastUser: last_user }),
  };
};

const combinationOf = ({ startMs, shard, model, route, deployment, keyId, projectId, split }: Names): string =>
  JSON.stringify([startMs, shard, model, route, deployment, keyId, projectId, split?.alias, split?.side]);

// Rows from before there were so many users: their users count as `(other)` now.
const foldedIn = (rows: readonly Names[]): ((row: Names) => boolean) => {
  const lastUsers = new Map<string, string>();
  for (const row of rows) if (row.lastUser !== undefined) lastUsers.set(combinationOf(row), row.lastUser);
  return (row) => {
    const lastUser = lastUsers.get(combinationOf(row));
    return lastUser !== undefined && isNamed(row.userId) && row.userId > lastUser;
  };
};

// Each part lies in one partition, cut to whole spans. `to` is exclusive, because rows of that time continue with `#`.
function* partitionsOf(query: TotalsQuery): Generator<{ partition: string; range: { from: string; to: string } }> {
  const spanMs = SPAN_MS[query.span];
  const [fromMs, toMs] = [query.fromMs, query.toMs].map((ms) => Math.ceil(ms / spanMs) * spanMs) as [number, number];
  for (let ms = fromMs, nextMs: number; ms < toMs; ms = nextMs) {
    nextMs = Math.min(nextPeriodMs(query.span, ms), toMs);
    yield { partition: partitionOf(query, ms), range: { from: timeOf(ms), to: timeOf(nextMs) } };
  }
}

/**
 * The totals of organizations in the `usage` table. The only code that knows their keys.
 * @param maxUsers of a span and an organization
 */
export const createOrganizationTotalsStore = (database: Database, table: string, maxUsers = MAX_USERS) => {
  const rows = createRowStore(database, table);

  async function* items(query: TotalsQuery): AsyncGenerator<Record<string, unknown>> {
    for (const { partition, range } of partitionsOf(query)) yield* rows.query(partition, range);
  }

  const spanOf = ({ organization, detail }: TotalsQuery, stored: readonly StoredGroup[]): OrganizationTotals[] => {
    const isFolded = foldedIn(stored);
    const groups = groupTotals(
      stored.filter((group) => !isFolded(group)),
      detail,
    );
    const [{ startMs = 0 } = {}] = stored;
    return (detail === 'user' ? foldUsers(groups, maxUsers) : groups).map(({ lastUser: _, ...group }) => ({
      organization,
      startMs,
      ...group,
    }));
  };

  return {
    /** An organization's totals, span by span in the order of time. Throws if a row is invalid. */
    list: async function* (query: TotalsQuery): AsyncGenerator<OrganizationTotals> {
      let stored: StoredGroup[] = [];
      for await (const item of items(query)) {
        const group = { ...namesOf(StoredNames.parse(item), query.detail), totals: StoredTotals.parse(item) };
        if (stored[0] && stored[0].startMs !== group.startMs) {
          yield* spanOf(query, stored);
          stored = [];
        }
        stored.push(group);
      }
      yield* spanOf(query, stored);
    },

    /** The number of events in each stored row, by the row's id. */
    listCounts: async (query: TotalsQuery): Promise<Map<string, number>> => {
      const counts = new Map<string, number>();
      for await (const item of items(query)) {
        const row = rowOf(item);
        if (typeof row.n === 'number') counts.set(totalsRowId(row), row.n);
      }
      return counts;
    },

    /** Every stored row, including invalid ones. */
    listRows: async (query: TotalsQuery): Promise<StoredRow[]> => {
      const read = (await Array.fromAsync(items(query))).map((item) => {
        const { data } = StoredNames.safeParse(item);
        return { row: rowOf(item), names: data && namesOf(data, query.detail) };
      });
      const isFolded = foldedIn(read.flatMap(({ names }) => names ?? []));
      return read.map(({ row, names }) => ({ ...row, isFolded: names !== undefined && isFolded(names) }));
    },

    /** Puts a row, unless the stored row has at least as many events. */
    put: (row: TotalsRow): Promise<boolean> => rows.put(itemOf(row)),

    /** Replaces the row that was read (undefined: it did not exist). False if it has changed since. */
    replace: (read: Row | undefined, row: TotalsRow): Promise<boolean> => rows.replace(read, itemOf(row)),

    /** Removes the row that was read. False if it has changed since. */
    remove: rows.remove,
  };
};

export type OrganizationTotalsStore = ReturnType<typeof createOrganizationTotalsStore>;
