import * as z from 'zod';
import { type EventExport, ExportFormat, ExportState, MAX_EXPORT_DAYS } from '../../../../shared/billing/export.ts';
import { DAY_SECONDS, SECOND_MS, unixSeconds } from '../../../../shared/time/units.ts';
import { OrganizationId } from '../../organizations/organization.ts';

const PER_MILLE = 1_000;
// More than the query string of GET /v1/billing/events can have.
const MAX_IDS = 100;

const Seconds = z.int().min(0).max(99_999_999_999);
const isMidnight = (seconds: number): boolean => seconds % DAY_SECONDS === 0;

export const NewExport = z
  .strictObject({
    format: ExportFormat.meta({
      description:
        '`csv` and `jsonl`: a record per event. `focus`: costs by day in FOCUS 1.4, with GPU time and the other lines of invoices.',
    }),
    start_time: Seconds.meta({ description: 'Requests that arrived from this time on. Unix time in seconds.', examples: [1_790_812_800] }),
    end_time: Seconds.meta({
      description: `Requests that arrived before this time, at most ${MAX_EXPORT_DAYS} days later. Unix time in seconds.`,
      examples: [1_793_491_200],
    }),
    organization: OrganizationId.optional().meta({
      description: 'The organization whose events to export. Required for admins; otherwise your own organization.',
    }),
    api_key_ids: z.array(z.string().max(64)).min(1).max(MAX_IDS).optional().meta({ description: 'Only events of these API keys.' }),
    models: z.array(z.string().max(256)).min(1).max(MAX_IDS).optional().meta({ description: 'Only events of these models.' }),
  })
  .refine(({ start_time, end_time }) => end_time > start_time, { path: ['end_time'], message: 'expected a time after start_time' })
  .refine(({ start_time, end_time }) => end_time - start_time <= MAX_EXPORT_DAYS * DAY_SECONDS, {
    path: ['end_time'],
    message: `expected at most ${MAX_EXPORT_DAYS} days after start_time; create several exports for a longer range`,
  })
  .refine(({ format, start_time, end_time }) => format !== 'focus' || [start_time, end_time].every(isMidnight), {
    path: ['start_time'],
    message: 'FOCUS has costs by day: expected start_time and end_time at the beginning of a UTC day',
  });
export type NewExport = z.output<typeof NewExport>;

/** An export on the wire. */
export const Export = z.object({
  id: z.string(),
  object: z.literal('export'),
  organization: z.string(),
  format: ExportFormat,
  start_time: z.int(),
  end_time: z.int(),
  api_key_ids: z.array(z.string()).nullable(),
  models: z.array(z.string()).nullable(),
  state: ExportState,
  progress: z.number().min(0).max(1),
  rows: z.int().meta({ description: 'Records written so far, without the header.' }),
  bytes: z.int().nullable(),
  sha256: z.string().nullable().meta({ description: 'Of the file, in hexadecimal digits.' }),
  error: z.string().nullable().meta({ description: 'Why it failed, and what to do.' }),
  created_at: z.int(),
  created_by: z.string(),
  completed_at: z.int().nullable(),
  download_url: z.string().nullable().meta({
    description: 'Where to download the file, for five minutes; null unless it is completed. Retrieve the export again for a new one.',
  }),
});
export type Export = z.infer<typeof Export>;

/** Converts an export to the wire. @param downloadUrl null in lists, and until it is completed */
export const exportToWire = (stored: EventExport, downloadUrl: string | null): Export => ({
  id: stored.id,
  object: 'export',
  organization: stored.organization,
  format: stored.format,
  start_time: stored.from_ms / SECOND_MS,
  end_time: stored.to_ms / SECOND_MS,
  api_key_ids: stored.api_key_ids,
  models: stored.models,
  state: stored.state,
  progress: stored.progress / PER_MILLE,
  rows: stored.rows,
  bytes: stored.bytes,
  sha256: stored.sha256,
  error: stored.error,
  created_at: unixSeconds(stored.created_at),
  created_by: stored.created_by,
  completed_at: stored.completed_at === null ? null : unixSeconds(stored.completed_at),
  download_url: downloadUrl,
});
