import { type EventExport, exportKey } from '../../../shared/billing/export.ts';
import type { ExportStore } from '../../../shared/billing/export-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Uploads } from './upload.ts';

// S3 requires 5 MiB of all parts but the last.
const PART_BYTES = 8 * 1024 * 1024;
// 15.6 GiB, and the list of parts fits one item of the database.
const MAX_PARTS = 2_000;

/** An export that can't be completed. The message says what to do. */
export class ExportFailure extends Error {}

export interface WriterDependencies {
  database: Database;
  exports: ExportStore;
  uploads: Uploads;
}

/** An export with an upload. */
export type StartedExport = EventExport & { upload_id: string };

/** Stores a change of the row that was read. @returns the new row */
export const saveExport = async <Row extends EventExport>(
  { database, exports }: WriterDependencies,
  row: Row,
  changes: Partial<EventExport>,
): Promise<Row> => {
  const changed = { ...row, ...changes };
  await transact(database, [exports.toContinue(changed)]);
  return { ...changed, version: row.version + 1 };
};

// Two tails alternate, so that the one named in the stored row is never overwritten.
const tailsOf = (row: EventExport): readonly [string, string] => [`${exportKey(row)}.tail-0`, `${exportKey(row)}.tail-1`];
const nextTail = (row: EventExport): string => {
  const [first, second] = tailsOf(row);
  return row.tail?.key === first ? second : first;
};

/** Empties the tails of a completed file. */
export const emptyTails = async ({ uploads }: Pick<WriterDependencies, 'uploads'>, row: EventExport): Promise<void> => {
  if (row.tail) for (const key of tailsOf(row)) await uploads.putTail(key, Buffer.alloc(0));
};

type Progress = Pick<EventExport, 'rows' | 'position' | 'progress'>;

/**
 * Writes the text of a file in parts, and stores the row after each. When the invocation ends, text too short for a
 * part is stored in an object of its own, the tail.
 * @param sums the export's sums, including the text that was added
 */
export const createFileWriter = (deps: WriterDependencies, started: StartedExport, sums: ReadonlyMap<string, bigint>) => {
  const { uploads } = deps;
  let row = started;
  let texts: Uint8Array[] = [];
  let bytes = 0;
  const add = (text: Uint8Array): void => {
    texts.push(text);
    bytes += text.length;
  };
  const save = async (progress: Progress, changes: Partial<EventExport>): Promise<StartedExport> => {
    const stored = Object.fromEntries([...sums].map(([group, cost]) => [group, String(cost)]));
    row = await saveExport(deps, row, { ...progress, failures: 0, sums: stored, ...changes });
    return row;
  };
  return {
    /** Continues with the tail of an earlier invocation. @param header the first text of a new file */
    open: async (header: () => string): Promise<void> => {
      if (row.tail && row.tail.bytes > 0) add(await uploads.getTail(row.tail.key));
      else if (row.position === null) add(Buffer.from(header()));
    },

    add: (text: string): void => {
      if (text !== '') add(Buffer.from(text));
    },

    /** True if there is enough text for a part. */
    isFull: (): boolean => bytes >= PART_BYTES,

    /** Uploads the text as a part. @throws ExportFailure if the file becomes too large; UploadGone */
    putPart: async (progress: Progress): Promise<StartedExport> => {
      const number = row.parts.length + 1;
      if (number > MAX_PARTS) {
        const most = Math.floor((MAX_PARTS * PART_BYTES) / 2 ** 30);
        throw new ExportFailure(`The file would be larger than ${most} GiB. Export a shorter range, or fewer API keys at once.`);
      }
      // A part may be empty only if the file has no text.
      const tail = row.tail && { ...row.tail, bytes: 0 };
      if (bytes === 0 && row.parts.length > 0) return save(progress, { tail });
      const part = await uploads.putPart(exportKey(row), row.upload_id, number, Buffer.concat(texts));
      texts = [];
      bytes = 0;
      return save(progress, { parts: [...row.parts, part], tail });
    },

    /** Stores the text for the next invocation. */
    putTail: async (progress: Progress): Promise<StartedExport> => {
      const tail = { key: nextTail(row), bytes };
      await uploads.putTail(tail.key, Buffer.concat(texts));
      return save(progress, { tail });
    },
  };
};
