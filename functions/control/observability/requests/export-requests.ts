import * as z from 'zod';
import { csvLines } from '../../../../shared/csv/csv.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import type { Actor } from '../../access/actor.ts';
import type { Text } from '../../access/route.ts';
import { exportPart } from '../../lists/export-part.ts';
import { requestFilters } from './request-filters.ts';
import { RequestRecord, requestRecord } from './request-record.ts';
import { type SearchDependencies, searchRequests } from './search-requests.ts';

// The most requests of a part, and the most items that are read for it.
const MAX_ROWS = 10_000;
const MAX_READ = 20_000;

const FORMATS = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl' } as const;
type Format = keyof typeof FORMATS;

export const ExportQuery = z.strictObject({
  ...requestFilters,
  format: z.enum(['csv', 'jsonl']).default('csv').meta({ description: 'The format of the text.' }),
  after: z
    .string()
    .optional()
    .meta({ description: 'The `after` of the `link` header of the previous part. Returns the requests after it.' }),
});
export type ExportQuery = z.output<typeof ExportQuery>;

const COLUMNS = RequestRecord.keyof().exclude(['object']).options;

const cellOf = (value: unknown): string | null => {
  if (value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const lineOf: Readonly<Record<Format, (record: RequestRecord) => string>> = {
  csv: (record) => csvLines([COLUMNS.map((column) => cellOf(record[column]))]),
  jsonl: (record) => `${JSON.stringify(record)}\n`,
};

/** Exports a part of a search's requests as text, with a `link` to the next part. @throws 400, 404 */
export const exportRequests = async (deps: SearchDependencies, actor: Actor, query: ExportQuery, event: ApiEvent): Promise<Text> => {
  const { format, after, ...filters } = query;
  const bounds = { limit: MAX_ROWS, after, maxRead: MAX_READ };
  const page = await searchRequests(deps, { actor, name: 'requests/export' }, filters, bounds);
  return exportPart(event, {
    fileName: `requests.${format}`,
    contentType: FORMATS[format],
    header: format === 'csv' ? csvLines([COLUMNS]) : '',
    items: page.rows,
    lineOf: (row) => lineOf[format](requestRecord(row)),
    cursorOf: ({ request_id }) => page.cursorAt(request_id),
    next: page.next === undefined ? undefined : page.cursorAt(page.next),
  });
};
