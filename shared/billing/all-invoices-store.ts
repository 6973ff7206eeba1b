import * as z from 'zod';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import type { PageRequest } from '../http/page.ts';
import { type Invoice, InvoiceState, isOpen } from './invoice.ts';
import { Month } from './month.ts';

type Listed = Pick<Invoice, 'id' | 'month' | 'state' | 'due_at' | 'total_nanos' | 'credited_nanos'>;

/** An entry of the list: an invoice, and the state by which it was found. */
export interface InvoiceEntry {
  id: string;
  state: InvoiceState;
  /** The `after` of the entries that follow it. */
  cursor: string;
}

const ALL = 'invoices';
const entryKey = (state: InvoiceState, { month, id }: Pick<Listed, 'month' | 'id'>): RecordKey => ({
  account: ALL,
  record: `${state}#${month}#${id}`,
});

// Their rows are small: this many are read with one call.
const MAX_COUNTED = 1_000;
/** The most invoices whose entries are checked at once: each has as many possible entries as there are states. */
export const MAX_CHECKED = 25;

const CHECK: RecordKey = { account: ALL, record: 'check' };
const ListCheck = z.object({
  /** The month in which the entries of all organizations were last checked; null: they never were. */
  finished: Month.nullable(),
  /** The organization up to which they are checked now; null: none. */
  after: z.string().nullable(),
});
export type ListCheck = z.infer<typeof ListCheck>;

const newestFirst = (one: InvoiceEntry, other: InvoiceEntry): number => (one.cursor > other.cursor ? -1 : 1);

/**
 * The list of the invoices of all organizations, by state and month, in the table `billing`. The only code that knows
 * its keys: `invoices`/`<state>#<month>#<invoice>` and `invoices`/`check`. A change of an invoice's state moves its
 * entry in the same transaction; `toCorrect` corrects entries that an earlier release did not write, move or change.
 * @param table the records of that table
 */
export const createAllInvoicesStore = (table: RecordTable) => {
  const entriesIn = async (state: InvoiceState, month: string | undefined, { limit, after }: PageRequest) => {
    const prefix = `${state}#${month === undefined ? '' : `${month}#`}`;
    const rest = after?.slice(month === undefined ? 0 : month.length + 1);
    const { rows, hasMore } = await table.page({ account: ALL, prefix, newestFirst: true }, { limit, after: rest });
    const entries = rows.map(({ id, record }): InvoiceEntry => ({ id: String(id), state, cursor: String(record).slice(state.length + 1) }));
    return { entries, hasMore };
  };

  const toPut = (invoice: Listed): Write =>
    table.toPut(entryKey(invoice.state, invoice), { id: invoice.id, due_at: invoice.due_at, is_open: isOpen(invoice) });

  return {
    /** The writes with which an invoice is listed in its state. @param before the state in which it was listed */
    toList: (invoice: Listed, before?: InvoiceState): Write[] => [
      ...(before === undefined || before === invoice.state ? [] : [table.toDelete(entryKey(before, invoice))]),
      toPut(invoice),
    ],

    /**
     * Entries of the latest month first.
     * @param states in which states, and of which month; default: all
     * @param request `after` must begin with the month, if there is one
     */
    page: async (
      { state, month }: { state?: InvoiceState | undefined; month?: string | undefined },
      request: PageRequest,
    ): Promise<{ entries: InvoiceEntry[]; next: string | null }> => {
      const states = state === undefined ? InvoiceState.options : [state];
      const pages = await Promise.all(states.map((each) => entriesIn(each, month, request)));
      const all = pages.flatMap(({ entries }) => entries).sort(newestFirst);
      const entries = all.slice(0, request.limit);
      const hasMore = all.length > entries.length || pages.some((page) => page.hasMore);
      return { entries, next: hasMore ? (entries.at(-1)?.cursor ?? null) : null };
    },

    /**
     * Counts drafts, and invoices of which something is left to pay, with two queries.
     * @returns `isComplete` is false if there are more than 1,000 of one kind, which are then not counted
     */
    countOpen: async (nowMs: number): Promise<{ drafts: number; open: number; overdue: number; isComplete: boolean }> => {
      const read = (state: InvoiceState) => table.page({ account: ALL, prefix: `${state}#` }, { limit: MAX_COUNTED });
      const [drafts, issued] = await Promise.all([read('draft'), read('issued')]);
      const open = issued.rows.filter(({ is_open }) => is_open !== false);
      return {
        drafts: drafts.rows.length,
        open: open.length,
        overdue: open.filter(({ due_at }) => typeof due_at === 'number' && due_at < nowMs).length,
        isComplete: !drafts.hasMore && !issued.hasMore,
      };
    },

    /** How far the entries are checked. */
    getCheck: async (): Promise<ListCheck> => {
      const row = await table.get(CHECK);
      return row ? ListCheck.parse(row) : { finished: null, after: null };
    },

    setCheck: (check: ListCheck): Promise<void> => table.put(CHECK, check),

    /**
     * The writes that correct the entries of some invoices, at most 25.
     * @returns by invoice, only those that need a correction
     */
    toCorrect: async (invoices: readonly Listed[]): Promise<{ id: string; writes: Write[] }[]> => {
      const keys = invoices.flatMap((invoice) => InvoiceState.options.map((state) => entryKey(state, invoice)));
      const listed = new Map((await table.getMany(keys)).map((row) => [String(row.record), row]));
      return invoices.flatMap((invoice) => {
        const stale = InvoiceState.options.filter((state) => state !== invoice.state && listed.has(entryKey(state, invoice).record));
        const entry = listed.get(entryKey(invoice.state, invoice).record);
        const isCurrent = entry?.due_at === invoice.due_at && entry.is_open === isOpen(invoice);
        if (stale.length === 0 && isCurrent) return [];
        return [{ id: invoice.id, writes: [...stale.map((state) => table.toDelete(entryKey(state, invoice))), toPut(invoice)] }];
      });
    },
  };
};

export type AllInvoicesStore = ReturnType<typeof createAllInvoicesStore>;
