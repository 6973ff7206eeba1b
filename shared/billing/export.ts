import * as z from 'zod';

export const ExportFormat = z.enum(['csv', 'jsonl', 'focus']);
export type ExportFormat = z.infer<typeof ExportFormat>;

/** The longest range of an export. */
export const MAX_EXPORT_DAYS = 400;

/** The most exports of an organization that can be pending or running. */
export const MAX_RUNNING_EXPORTS = 5;

export const ExportState = z.enum(['pending', 'running', 'completed', 'failed']);
export type ExportState = z.infer<typeof ExportState>;

/**
 * The last record that the parts and the tail contain. Records are in the order of their units, which are the days of
 * each key and of each deployment: `unit` is a text by which they sort; `after` is the id of the last event of an
 * unfinished unit, null for a finished one.
 */
export const ExportPosition = z.object({ unit: z.string(), after: z.string().nullable() });
export type ExportPosition = z.infer<typeof ExportPosition>;

/** A part of the file that was uploaded. */
export const ExportPart = z.object({ number: z.int().min(1), etag: z.string(), bytes: z.int() });
export type ExportPart = z.infer<typeof ExportPart>;

/** An export of events to a file, at rest. */
export const EventExport = z.object({
  id: z.string(),
  organization: z.string(),
  format: ExportFormat,
  /** Milliseconds since the epoch: events of requests that arrived from `from_ms` on and before `to_ms`. */
  from_ms: z.int(),
  to_ms: z.int(),
  /** Null: all. */
  api_key_ids: z.array(z.string()).nullable(),
  models: z.array(z.string()).nullable(),
  state: ExportState,
  created_at: z.int(),
  created_by: z.string(),
  completed_at: z.int().nullable(),
  /** The reason why it failed, and the remedy. */
  error: z.string().nullable(),
  upload_id: z.string().nullable(),
  parts: z.array(ExportPart),
  position: ExportPosition.nullable(),
  /**
   * Text after the parts that is too short for a part of its own: 0 bytes once it is in a part, null if there never
   * was any.
   */
  tail: z.object({ key: z.string(), bytes: z.int() }).nullable(),
  /** FOCUS: the costs of the current month's rows so far, in units of 10⁻¹⁸, by the invoice lines that charge them. */
  sums: z.record(z.string(), z.string()),
  /** Failed invocations in a row, and restarts of the export because its upload was gone. */
  failures: z.int().min(0),
  restarts: z.int().min(0),
  /** Records in the parts and the tail, without the header. */
  rows: z.int().min(0),
  /** From 0 to 1,000. */
  progress: z.int().min(0).max(1_000),
  bytes: z.int().nullable(),
  sha256: z.string().nullable(),
  version: z.int().min(1),
});
export type EventExport = z.output<typeof EventExport>;

const EXTENSIONS: Readonly<Record<ExportFormat, string>> = { csv: 'csv', jsonl: 'jsonl', focus: 'csv' };

/** The keys of the files of all exports of an organization begin with this. */
export const exportPrefix = (organization: string): string => `exports/${organization}/`;

/** The file's key in the bucket for billing. */
export const exportKey = ({ organization, id, format }: Pick<EventExport, 'organization' | 'id' | 'format'>): string =>
  `${exportPrefix(organization)}${id}.${EXTENSIONS[format]}`;

/** An export still has work to do. */
export const isRunning = ({ state }: Pick<EventExport, 'state'>): boolean => state === 'pending' || state === 'running';
