import type { RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { MAX_ID_TIME_MS, prefixes, timeOfId } from '../ids/id.ts';
import { AuditEntry } from './audit-entry.ts';

const PLATFORM = 'platform';

const ENTRY = 'entry#';

// Entries are read in queries of at most 1 MB, and this many entries for a page.
const MAX_READ = 2_000;
const READ_AT_ONCE = 500;

/** A search for entries. */
export interface AuditSearch {
  /** The time of the entries in ms since the epoch; the end is exclusive. Default: all. */
  fromMs?: number;
  toMs?: number;
  /** Default: all. */
  matches?: ((entry: AuditEntry) => boolean) | undefined;
  /** The most entries that are read for a page. */
  maxRead?: number;
}

// All ids of entries begin with their time.
const boundOf = (atMs: number): string => ENTRY + prefixes.event + timeOfId(Math.min(Math.max(atMs, 0), MAX_ID_TIME_MS));

const earlierOf = (one: string, other: string | undefined): string => (other === undefined || one < other ? one : other);

const pageUntil = (data: AuditEntry[], last: AuditEntry | undefined, fromMs: number): Page<AuditEntry> & { searchedToMs: number } => ({
  object: 'list',
  data,
  has_more: last !== undefined,
  next: last?.id ?? null,
  searchedToMs: last?.at ?? fromMs,
});

const accountOf = (organization: string | null): string => organization ?? PLATFORM;

/**
 * The audit log: append-only, with one partition per organization, in chronological order.
 * @param table has the schema of the `accounts` table; the function can add items, but not update or delete them
 */
export const createAuditStore = (table: RecordTable) => ({
  /** Returns the write of an entry, for the transaction of the change that it records. */
  toAppend: (entry: AuditEntry): Write =>
    table.toCreate(
      { account: accountOf(entry.organization), record: ENTRY + entry.id },
      entry,
      () => new Error(`${entry.id} already exists.`),
    ),

  /** Lists every entry of an organization, oldest first. */
  listAll: async function* (organization: string): AsyncGenerator<AuditEntry> {
    for await (const row of table.all({ account: organization, prefix: ENTRY })) yield AuditEntry.parse(row);
  },

  /**
   * Lists the entries of a time that match, newest first. It reads at most `maxRead` entries, so it can return fewer
   * than `limit`, or none, although there are more.
   * @param request `after` is the id of an entry
   * @returns `searchedToMs`: all later entries were read, except those before this page
   */
  list: async (
    organization: string | null,
    { limit, after }: PageRequest,
    { fromMs = 0, toMs = MAX_ID_TIME_MS, matches, maxRead = MAX_READ }: AuditSearch = {},
  ): Promise<Page<AuditEntry> & { searchedToMs: number }> => {
    const range = { account: accountOf(organization), from: boundOf(fromMs) };
    const data: AuditEntry[] = [];
    let to = earlierOf(boundOf(toMs), after === undefined ? undefined : ENTRY + after);
    for (let left = maxRead; ; ) {
      const atOnce = matches ? READ_AT_ONCE : limit - data.length + 1;
      const { rows, hasMore } = await table.newestIn({ ...range, to }, Math.min(left, atOnce));
      const entries = rows.map((row) => AuditEntry.parse(row));
      for (const [i, entry] of entries.entries()) {
        if (!matches || matches(entry)) data.push(entry);
        if (data.length === limit) return pageUntil(data, hasMore || i < entries.length - 1 ? entry : undefined, fromMs);
      }
      left -= Math.max(1, entries.length);
      const last = entries.at(-1);
      if (!hasMore || left <= 0) return pageUntil(data, hasMore ? last : undefined, fromMs);
      if (last) to = ENTRY + last.id;
    }
  },
});

export type AuditStore = ReturnType<typeof createAuditStore>;
