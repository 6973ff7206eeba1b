import type { AuditEntry } from '../../../shared/audit/audit-entry.ts';
import { type Cell, csvLines } from '../../../shared/csv/csv.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import type { Actor } from '../access/actor.ts';
import type { Text } from '../access/route.ts';
import { exportPart } from '../lists/export-part.ts';
import { type AuditQuery, type AuditReads, searchEntries } from './search-entries.ts';

// The most entries of a part, and the most that are read for it.
const MAX_ENTRIES = 2_000;
const MAX_READ = 5_000;

const CELLS: readonly (readonly [name: string, cellOf: (entry: AuditEntry) => Cell])[] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => new Date(at).toISOString()],
  ['action', ({ action }) => action],
  ['actor_type', ({ actor }) => actor.type],
  ['actor_id', ({ actor }) => actor.id],
  ['actor_email', ({ actor }) => actor.email],
  ['actor_organization', ({ actor }) => actor.organization],
  ['organization', ({ organization }) => organization],
  ['target_type', ({ target }) => target.type],
  ['target_id', ({ target }) => target.id],
  ['reason', ({ reason }) => reason],
  ['changes', ({ changes }) => JSON.stringify(changes)],
  ['request_id', ({ request_id }) => request_id],
  ['ip_address', ({ ip_address }) => ip_address],
];

/** Exports a part of a log as CSV, newest first, with a `link` to the next part. @throws 400, 404 */
export const exportEntries = async (deps: AuditReads, actor: Actor, query: AuditQuery, event: ApiEvent): Promise<Text> => {
  const page = await searchEntries(deps, actor, query, { limit: MAX_ENTRIES, maxRead: MAX_READ });
  return exportPart(event, {
    fileName: 'audit-log.csv',
    contentType: 'text/csv; charset=utf-8',
    header: csvLines([CELLS.map(([name]) => name)]),
    items: page.data,
    lineOf: (entry) => csvLines([CELLS.map(([, cellOf]) => cellOf(entry))]),
    cursorOf: ({ id }) => id,
    next: page.next ?? undefined,
  });
};
