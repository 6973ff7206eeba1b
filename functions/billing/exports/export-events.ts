import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import { type EventExport, exportKey, isRunning } from '../../../shared/billing/export.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { logError } from '../../../shared/logging/log.ts';
import { newNotification } from '../../../shared/notifications/notification.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import { fileChunksOf, fileHeader } from './file-chunks.ts';
import { createFileWriter, ExportFailure, emptyTails, type StartedExport, saveExport, type WriterDependencies } from './file-writer.ts';
import type { FileSources } from './slice-events.ts';
import { UploadGone } from './upload.ts';

const MAX_RESTARTS = 2;
// Invocations in a row that write nothing. The queue delivers the task again after each.
const MAX_FAILURES = 10;
const PER_MILLE = 1_000;
// It sorts after all slices, which begin with a digit.
const END = { unit: '~', after: null };
const isWritten = ({ position }: EventExport): boolean => position?.unit === END.unit;
const TYPES = { csv: 'text/csv; charset=utf-8', focus: 'text/csv; charset=utf-8', jsonl: 'application/jsonl' } as const;

export interface EventExportDependencies extends FileSources, WriterDependencies {
  outbox: Outbox;
  tasks: BillingTasks;
  /** False when the export must store its progress and end. */
  hasTime: () => boolean;
}

const begin = async (deps: EventExportDependencies, row: EventExport): Promise<StartedExport> => {
  const upload_id = row.upload_id ?? (await deps.uploads.create(exportKey(row), TYPES[row.format]));
  // An invocation that writes something resets it.
  return { ...(await saveExport(deps, row, { state: 'running', upload_id, failures: row.failures + 1 })), upload_id };
};

const write = async (deps: EventExportDependencies, started: StartedExport): Promise<StartedExport> => {
  const sums = new Map(Object.entries(started.sums).map(([group, cost]) => [group, BigInt(cost)]));
  const writer = createFileWriter(deps, started, sums);
  await writer.open(() => fileHeader(started.format));
  let { rows } = started;
  for await (const chunk of fileChunksOf(deps, started, sums)) {
    writer.add(chunk.text);
    rows += chunk.rows;
    const at = { rows, position: chunk.position, progress: chunk.progress };
    if (writer.isFull()) await writer.putPart(at);
    if (!deps.hasTime()) return writer.putTail(at);
  }
  return writer.putPart({ rows, position: END, progress: PER_MILLE });
};

const complete = async (deps: EventExportDependencies, row: StartedExport): Promise<void> => {
  const key = exportKey(row);
  await deps.uploads.complete(key, row.upload_id, row.parts);
  await emptyTails(deps, row);
  const { bytes, sha256 } = await deps.uploads.digest(key);
  const at = deps.now();
  const { id, organization, format, rows } = row;
  const completed: EventExport = { ...row, state: 'completed', completed_at: at, bytes, sha256, sums: {}, tail: null, parts: [] };
  const data = { export: id, format, rows, bytes, sha256 };
  const notification = newNotification({ type: 'sluice.export.completed.v1', organization, subject: id, at, data });
  await transact(deps.database, [...deps.exports.toEnd(completed), deps.outbox.toEmit(notification)]);
};

const fail = async (deps: EventExportDependencies, row: EventExport, error: string): Promise<void> => {
  if (row.upload_id !== null) await deps.uploads.abort(exportKey(row), row.upload_id);
  await transact(deps.database, deps.exports.toEnd({ ...row, state: 'failed', error, sums: {}, tail: null, parts: [] }));
};

const FROM_THE_START = { state: 'pending', upload_id: null, parts: [], tail: null, position: null, rows: 0, progress: 0, sums: {} };

const recover = async (deps: EventExportDependencies, organization: string, id: string, error: unknown): Promise<void> => {
  const row = await deps.exports.get(organization, id);
  if (!isRunning(row)) return;
  if (error instanceof ExportFailure) return fail(deps, row, error.message);
  logError('export_failed', error, { export: id, failures: row.failures });
  if (error instanceof UploadGone && row.restarts < MAX_RESTARTS)
    await saveExport(deps, row, { ...FROM_THE_START, restarts: row.restarts + 1 } as Partial<EventExport>);
  throw error;
};

/**
 * Continues an export of events: uploads parts of its file and stores the position after each, so that a crash repeats
 * at most one part. When its time ends, it queues another task.
 * @throws the error of this attempt, so that the queue delivers the task again
 */
export const exportEvents = async (
  deps: EventExportDependencies,
  { organization, export: id }: { organization: string; export: string },
): Promise<void> => {
  const row = await deps.exports.get(organization, id);
  if (!isRunning(row)) return;
  if (row.failures >= MAX_FAILURES)
    return fail(deps, row, 'The export failed repeatedly because of an error on our side. Create it again later.');
  try {
    const started = await begin(deps, row);
    const written = isWritten(started) ? started : await write(deps, started);
    if (isWritten(written)) return await complete(deps, written);
    await deps.tasks.send({ task: 'export', organization, export: id }, deps.now(), written.version);
  } catch (error) {
    await recover(deps, organization, id, error);
  }
};
