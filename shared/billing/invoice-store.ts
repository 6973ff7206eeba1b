import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { PreconditionFailed, ResourceNotFound } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';
import { createAllInvoicesStore } from './all-invoices-store.ts';
import { Invoice, isOpen } from './invoice.ts';
import { pack, unpack } from './packed.ts';

const StoredInvoice = ignoringUnknown(Invoice);

const LIST = 'invoice#';
// More than a month can have: one is not void, and each void one was issued by hand.
const MAX_INVOICES_OF_MONTH = 100;

const recordKeyOf = (id: string): RecordKey => ({ account: id, record: 'invoice' });
// Sorts by month, and then by creation.
const listRecord = ({ month, id }: Pick<Invoice, 'month' | 'id'>): string => `${LIST}${month}#${id}`;

// The rest of an issued invoice is as it was sent.
const CHANGEABLE = new Set<string>([
  'state',
  'paid_at',
  'payment_reference',
  'voided_at',
  'void_reason',
  'credited_nanos',
  'files',
  'version',
] satisfies (keyof Invoice)[]);
const itemOf = ({ lines, projects, service_levels, replaced, ...invoice }: Invoice) => ({
  ...invoice,
  packed: pack({ lines, replaced, ...(projects && { projects }), ...(service_levels && { service_levels }) }),
});
const invoiceOf = ({ packed, ...row }: Record<string, unknown>): Invoice => StoredInvoice.parse({ ...row, ...unpack(packed) });

// The partition of the invoices that are not issued or have no files yet.
const PLATFORM = 'platform';
const UNFINISHED = 'unfinished-invoice#';
const unfinishedRecordKey = ({ organization, month, id }: Pick<Invoice, 'organization' | 'month' | 'id'>): RecordKey => ({
  account: PLATFORM,
  record: `${UNFINISHED}${organization}#${month}#${id}`,
});

/** Another closing of the month made its invoice at the same time. */
export class InvoiceExists extends Error {}

/**
 * The invoices in the table `billing`. The only code that knows their keys.
 * @param table the records of that table
 */
export const createInvoiceStore = (table: RecordTable) => {
  const all = createAllInvoicesStore(table);

  const find = async (id: string): Promise<Invoice | undefined> => {
    const row = await table.get(recordKeyOf(id));
    return row && invoiceOf(row);
  };

  const getMany = async (ids: readonly string[]): Promise<Invoice[]> => (await table.getMany(ids.map(recordKeyOf))).map(invoiceOf);

  const read = (records: readonly Record<string, unknown>[]): Promise<Invoice[]> => getMany(records.map(({ id }) => String(id)));

  return {
    find,

    /** The invoices with these ids, at most 100, in their order; missing ones are left out. */
    getMany,

    /** @throws 404, also for an invoice of another organization */
    get: async (organization: string, id: string): Promise<Invoice> => {
      const invoice = await find(id);
      if (invoice?.organization !== organization) throw new ResourceNotFound('invoice', id);
      return invoice;
    },

    /** An organization's invoices, of the latest month first. `next`: the `after` of the next page. */
    list: async (organization: string, request: PageRequest): Promise<{ invoices: Invoice[]; hasMore: boolean; next: string | null }> => {
      const { rows, hasMore } = await table.page({ account: organization, prefix: LIST, newestFirst: true }, request);
      const last = rows.at(-1);
      return { invoices: await read(rows), hasMore, next: hasMore && last ? String(last.record).slice(LIST.length) : null };
    },

    /** All invoices of a month, in the order of their creation; at most one of them is not void. */
    ofMonth: async (organization: string, month: string): Promise<Invoice[]> => {
      const { rows } = await table.page({ account: organization, prefix: `${LIST}${month}#` }, { limit: MAX_INVOICES_OF_MONTH });
      return read(rows);
    },

    /**
     * The months whose invoices may not be issued, or have no files, although they were created: a function may have
     * crashed.
     */
    listUnfinished: async function* (): AsyncGenerator<{ organization: string; month: string }> {
      for await (const { record } of table.all({ account: PLATFORM, prefix: UNFINISHED })) {
        const [organization = '', month = ''] = String(record).slice(UNFINISHED.length).split('#');
        yield { organization, month };
      }
    },

    /** Notes that nothing is left to be done for an invoice. */
    toFinish: (invoice: Pick<Invoice, 'organization' | 'month' | 'id'>): Write => table.toDelete(unfinishedRecordKey(invoice)),

    /** Creates an invoice, unfinished. @throws InvoiceExists in the transaction */
    toCreate: (invoice: Invoice): Write[] => [
      table.toClaim(unfinishedRecordKey(invoice), { claim: invoice.id, nowMs: invoice.created_at }),
      table.toCreate(recordKeyOf(invoice.id), itemOf(invoice), () => new InvoiceExists()),
      table.toCreate({ account: invoice.organization, record: listRecord(invoice) }, { id: invoice.id }, () => new InvoiceExists()),
      ...all.toList(invoice),
    ],

    /** Checks that an invoice is as it was read: 412 otherwise. */
    toCheck: ({ id, version }: Pick<Invoice, 'id' | 'version'>): Write =>
      table.toCheck(recordKeyOf(id), { version }, () => new PreconditionFailed()),

    /**
     * The writes that replace the invoice that was read: 412 if another change came first.
     * @param read as it was read: if it was issued, only some fields can change
     * @throws Error for a change of another field, which is our bug
     */
    toReplace: (read: Invoice, changes: Partial<Invoice>): Write[] => {
      const fixed = Object.keys(changes).filter((name) => !CHANGEABLE.has(name));
      if (read.state !== 'draft' && fixed.length > 0) throw new Error(`${read.id} is ${read.state}, so ${fixed.join(', ')} can't change.`);
      const changed = { ...read, ...changes };
      return [
        table.toReplace(recordKeyOf(read.id), { ...itemOf(changed), version: read.version }),
        ...(changed.state === read.state && isOpen(changed) === isOpen(read) ? [] : all.toList(changed, read.state)),
      ];
    },
  };
};

export type InvoiceStore = ReturnType<typeof createInvoiceStore>;
