import type { RequestBody } from '../../client/routes.ts';
import { utcSeconds } from '../../design/format/times.ts';
import { DAY_S } from '../../design/format/units.ts';

type NewExport = RequestBody<'POST /v1/billing/exports'>;
export type ExportFormat = NewExport['format'];

/** An export as its form edits it. Days are UTC days, such as `2026-10-31`, of which the last one counts. */
export interface ExportDraft {
  format: ExportFormat;
  firstDay: string;
  lastDay: string;
  /** Ids with commas or spaces between them; empty: all. */
  keys: string;
  models: string;
}

/** The most days of an export. */
export const MAX_EXPORT_DAYS = 400;

const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** The body that creates an export; undefined if its days are incomplete, in the wrong order or too many. */
export const newExportOf = (
  { format, firstDay, lastDay, keys, models }: ExportDraft,
  organization: string | undefined,
): NewExport | undefined => {
  const [start_time, last] = [utcSeconds(firstDay), utcSeconds(lastDay)];
  if (start_time === undefined || last === undefined || last < start_time) return undefined;
  const end_time = last + DAY_S;
  if (end_time - start_time > MAX_EXPORT_DAYS * DAY_S) return undefined;
  const [api_key_ids, names] = [namesIn(keys), namesIn(models)];
  return {
    format,
    start_time,
    end_time,
    ...(organization && { organization }),
    ...(api_key_ids.length > 0 && { api_key_ids }),
    ...(names.length > 0 && { models: names }),
  };
};
