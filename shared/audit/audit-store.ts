import type { RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { AuditEntry } from './audit-entry.ts';

const PLATFORM = 'platform';

const ENTRY = 'entry#';

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

  /** Returns the time of an organization's first entry with one of these actions, in ms since the epoch. */
  firstOf: async (organization: string, actions: readonly string[]): Promise<number | undefined> => {
    for await (const row of table.all({ account: organization, prefix: ENTRY })) {
      const { action, at } = AuditEntry.parse(row);
      if (actions.includes(action)) return at;
    }
    return undefined;
  },

  /** Lists entries, newest first. */
  list: async (organization: string | null, request: PageRequest): Promise<Page<AuditEntry>> => {
    const { rows, hasMore } = await table.page({ account: accountOf(organization), prefix: ENTRY, newestFirst: true }, request);
    const data = rows.map((row) => AuditEntry.parse(row));
    return { object: 'list', data, has_more: hasMore, next: hasMore ? (data.at(-1)?.id ?? null) : null };
  },
});

export type AuditStore = ReturnType<typeof createAuditStore>;
