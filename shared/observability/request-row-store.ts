import type { Database } from '../database/database.ts';
import { createReadBudget, newestFirst, type RowRange } from '../database/newest-first.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS, timeOfId } from '../ids/id.ts';
import { requestTimeMs } from '../ids/request-id.ts';
import { DAY_MS } from '../time/units.ts';
import { dayOf } from '../time/utc.ts';
import { createRequestPartitions, expiresAt, type PartitionStep, partitionOf, partitionsWithin } from './request-partitions.ts';
import { hasFailed, RequestRow } from './request-row.ts';

const REQUEST_ID = new RegExp(`^${prefixes.request}[0-9A-Za-z]{${TIME_CHARACTERS + RANDOM_CHARACTERS}}$`);

// `org_1#2026-11-21#0`, and of requests that failed, `org_1#2026-11-21#failed#0`.
const accountOf = (organization: string, day: string, partition: number, isFailed = false): string =>
  `${organization}#${day}#${isFailed ? 'failed#' : ''}${partition}`;

/** Returns true if an item of the table belongs to an organization: a request, a setting, or a count of payloads. */
export const isObservedOf = (organization: string, account: string): boolean =>
  account === organization || account.startsWith(`${organization}#`);

// Sorts before the ids of all requests that arrive at this time or later, and after those of earlier ones.
const boundOf = (atMs: number): string => prefixes.request + timeOfId(atMs);

// The first ms whose requests can't come before this id or bound.
const endMsOf = (before: string): number => requestTimeMs(before) + (REQUEST_ID.test(before) ? 1 : 0);

/** A search: requests that arrived in [fromMs, toMs). */
export interface RowQuery {
  organization: string;
  fromMs: number;
  toMs: number;
  /** Reads only requests that failed. */
  isFailed: boolean;
  matches: (row: RequestRow) => boolean;
  /** The most rows of a page, and the most items that are read for it. */
  limit: number;
  maxRead: number;
  /** The `next` of the previous page: only requests before it. */
  before?: string | undefined;
}

export interface RowPage {
  rows: RequestRow[];
  /** Where the next page begins; undefined: everything was read. */
  next: string | undefined;
  /** Everything from the start of the page to this time was read, in ms since the epoch. */
  searchedToMs: number;
}

// The last day first.
const daysOf = (fromMs: number, toMs: number): { day: string; fromMs: number; toMs: number }[] => {
  const days = [];
  if (toMs <= fromMs) return [];
  for (let startMs = Math.floor((toMs - 1) / DAY_MS) * DAY_MS; startMs > fromMs - DAY_MS; startMs -= DAY_MS)
    days.push({ day: dayOf(startMs), fromMs: Math.max(fromMs, startMs), toMs: Math.min(toMs, startMs + DAY_MS) });
  return days;
};

/**
 * The rows of requests in the table of observability, ordered by arrival for each organization and UTC day. The only
 * code that knows their keys.
 */
export const createRequestRowStore = (database: Database, table: string) => {
  const partitions = createRequestPartitions(database, table);

  const putAt = async (account: string, { org_id: _, request_id, ...row }: RequestRow, expires_at: number): Promise<void> => {
    await database.put({ TableName: table, Item: { ...row, account, record: request_id, expires_at } });
  };

  const rowOf = ({ account, record, ...row }: Record<string, unknown>): RequestRow =>
    RequestRow.parse({ ...row, request_id: record, org_id: String(account).split('#', 1)[0] });

  const putWith = async (row: RequestRow, steps: readonly PartitionStep[]): Promise<void> => {
    const atMs = requestTimeMs(row.request_id);
    const day = dayOf(atMs);
    const partition = partitionOf(steps, row.request_id, atMs);
    await putAt(accountOf(row.org_id, day, partition), row, expiresAt(day));
    if (hasFailed(row)) await putAt(accountOf(row.org_id, day, partition, true), row, expiresAt(day));
  };

  return {
    partitions,

    /**
     * Returns a writer that puts the rows of a batch. It can be repeated. The partitions of a day are read once for a
     * batch, so don't keep the writer for longer.
     */
    writer: () => {
      const known = new Map<string, Promise<PartitionStep[]>>();
      return {
        put: async (row: RequestRow): Promise<void> => {
          const day = dayOf(requestTimeMs(row.request_id));
          const id = `${row.org_id}#${day}`;
          const steps = known.get(id) ?? partitions.get(row.org_id, day);
          known.set(id, steps);
          await putWith(row, await steps);
        },
      };
    },

    /** Puts one row. */
    put: async (row: RequestRow): Promise<void> => putWith(row, await partitions.get(row.org_id, dayOf(requestTimeMs(row.request_id)))),

    /** Returns the row of a request of this organization; undefined if there is none, or it has expired. */
    get: async (organization: string, requestId: string): Promise<RequestRow | undefined> => {
      if (!REQUEST_ID.test(requestId)) return undefined;
      const atMs = requestTimeMs(requestId);
      const day = dayOf(atMs);
      const partition = partitionOf(await partitions.get(organization, day), requestId, atMs);
      const Key = { account: accountOf(organization, day, partition), record: requestId };
      const { Item } = await database.get({ TableName: table, Key });
      return Item && rowOf(Item);
    },

    /**
     * Returns a page of an organization's requests, newest first. It reads at most `maxRead` items, and some for each
     * partition, so it can have fewer rows than `limit`, or none, although there are more.
     */
    page: async ({ organization, fromMs, toMs, isFailed, matches, limit, maxRead, before }: RowQuery): Promise<RowPage> => {
      const days = daysOf(fromMs, before === undefined ? toMs : Math.min(toMs, endMsOf(before)));
      const steps = await partitions.getDays(
        organization,
        days.map(({ day }) => day),
      );
      const budget = createReadBudget(maxRead);
      const rows: RequestRow[] = [];
      let read = before ?? boundOf(toMs);
      const pageEnd = (next: string | undefined): RowPage => ({
        rows,
        next,
        searchedToMs: next === undefined ? fromMs : requestTimeMs(next),
      });
      for (const { day, ...range } of days) {
        const count = partitionsWithin(steps.get(day) ?? [], range.fromMs, range.toMs);
        const ranges = Array.from({ length: count }, (_, partition): RowRange => {
          const upper = boundOf(range.toMs);
          return {
            account: accountOf(organization, day, partition, isFailed),
            from: boundOf(range.fromMs),
            to: before !== undefined && before < upper ? before : upper,
          };
        });
        for await (const item of newestFirst({ database, table }, ranges, budget, limit - rows.length + 1)) {
          if (rows.length === limit) return pageEnd(read);
          read = item.record;
          const row = rowOf(item);
          if (matches(row)) rows.push(row);
        }
        if (budget.isExhausted()) return pageEnd(read);
        read = boundOf(range.fromMs);
      }
      return pageEnd(undefined);
    },
  };
};

export type RequestRowStore = ReturnType<typeof createRequestRowStore>;
