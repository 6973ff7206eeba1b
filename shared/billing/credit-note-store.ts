import { createHash } from 'node:crypto';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { ResourceNotFound } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';
import { CreditNote } from './invoice.ts';

const StoredCreditNote = ignoringUnknown(CreditNote);

const LIST = 'credit-note#';
const ONCE = 'credit-note-once#';

const recordKeyOf = (id: string): RecordKey => ({ account: id, record: 'credit-note' });
const onceRecordKey = (organization: string, key: string): RecordKey => ({
  account: organization,
  record: ONCE + createHash('sha256').update(key).digest('base64url'),
});

/** This idempotency key was already used for a credit note. */
export class AlreadyCredited extends Error {}

// `request` is a text that only the same request has.
interface Once {
  key: string;
  request: string;
}

/**
 * The credit notes in the table `billing`: each with an entry in the lists of its organization and of its invoice.
 * The only code that knows their keys.
 * @param table the records of that table
 */
export const createCreditNoteStore = (table: RecordTable) => {
  const find = async (id: string): Promise<CreditNote | undefined> => {
    const row = await table.get(recordKeyOf(id));
    return row && StoredCreditNote.parse(row);
  };

  return {
    find,

    /** @throws 404, also for a credit note of another organization */
    get: async (organization: string, id: string): Promise<CreditNote> => {
      const note = await find(id);
      if (note?.organization !== organization) throw new ResourceNotFound('credit note', id);
      return note;
    },

    /** The credit notes of an organization or of an invoice, newest first. `next`: the `after` of the next page. */
    list: async (of: string, request: PageRequest): Promise<{ notes: CreditNote[]; hasMore: boolean; next: string | null }> => {
      const { rows, hasMore } = await table.page({ account: of, prefix: LIST, newestFirst: true }, request);
      const ids = rows.map(({ id }) => String(id));
      const found = await table.getMany(ids.map(recordKeyOf));
      return { notes: found.map((row) => StoredCreditNote.parse(row)), hasMore, next: hasMore ? (ids.at(-1) ?? null) : null };
    },

    /** Adds a credit note as writes of a transaction; only once per idempotency key: fails with AlreadyCredited. */
    toCreate: (note: CreditNote, once?: Once): Write[] => {
      const exists = () => new Error(`${note.id} already exists.`);
      const entry = { id: note.id };
      return [
        ...(once === undefined
          ? []
          : [table.toCreate(onceRecordKey(note.organization, once.key), { ...entry, request: once.request }, () => new AlreadyCredited())]),
        table.toCreate(recordKeyOf(note.id), note, exists),
        table.toCreate({ account: note.organization, record: LIST + note.id }, entry, exists),
        table.toCreate({ account: note.invoice, record: LIST + note.id }, entry, exists),
      ];
    },

    /** The credit note of an idempotency key and its request, if it exists. */
    getOnce: async (organization: string, key: string): Promise<{ note: CreditNote; request: string } | undefined> => {
      const once = await table.get(onceRecordKey(organization, key));
      if (!once) return undefined;
      const note = await find(String(once.id));
      if (!note) throw new Error(`The credit note ${once.id} is missing.`);
      return { note, request: String(once.request) };
    },

    /**
     * Records the files that were made of a credit note; nothing else of it ever changes. 412 if another change came
     * first.
     */
    toSetFiles: (read: CreditNote, files: CreditNote['files']): Write => table.toReplace(recordKeyOf(read.id), { ...read, files }),
  };
};

export type CreditNoteStore = ReturnType<typeof createCreditNoteStore>;
