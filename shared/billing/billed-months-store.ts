import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict, PreconditionFailed } from '../http/errors.ts';
import { BilledDay, BilledMonth, BillingState, NOTHING_BILLED, PartOfDay, type ReplacedMonth } from './billed-month.ts';
import type { Invoice } from './invoice.ts';

const BILLED = 'billed#';
const READ = 'read#';
const PART = 'part#';
const RATED_AGAIN = 'rated-again#';

const monthRecordKey = (organization: string, month: string): RecordKey => ({ account: organization, record: BILLED + month });
const stateRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'state' });
const ratedAgainRecordKey = (organization: string, day: string): RecordKey => ({ account: organization, record: RATED_AGAIN + day });
const readPrefix = (reader: string): string => `${READ}${reader}#`;
const partPrefix = (reader: string): string => `${PART}${reader}#`;

const daysBilledDifferently = (one: BilledMonth, other: BilledMonth): string[] =>
  Object.entries(other.days).flatMap(([day, { sha256 }]) => (one.days[day]?.sha256 === sha256 ? [] : [day]));

class AlreadyBuiltOn extends Conflict {
  constructor({ number, id }: Invoice) {
    super({
      code: 'invoice_in_use',
      message: `A later invoice builds on ${number ?? id}, so it can't be voided. Issue a credit note instead.`,
    });
  }
}

/**
 * Stores the days and months that organizations were billed for, in the table `billing`. The only code that knows these
 * keys: `state`, `billed#<month>`, and while a month is being closed `read#<invoice>#<day>` and
 * `part#<invoice>#<day>`, and `rated-again#<day>`.
 */
export const createBilledMonthsStore = (table: RecordTable) => {
  const getState = async (organization: string): Promise<BillingState> => {
    const row = await table.get(stateRecordKey(organization));
    return row ? BillingState.parse(row) : NOTHING_BILLED;
  };

  /** Replaces the state that was read: 412 if another change came first. */
  const toReplaceState = (organization: string, state: BillingState): Write => table.toSave(stateRecordKey(organization), state);

  /** Replaces the month that was read, or creates it with version 0: 412 if another change came first. */
  const toReplace = (billed: Omit<BilledMonth, 'version'> & { version: number }): Write =>
    table.toSave(monthRecordKey(billed.organization, billed.month), billed);

  const get = async (organization: string, month: string): Promise<BilledMonth | undefined> => {
    const row = await table.get(monthRecordKey(organization, month));
    return row && BilledMonth.parse(row);
  };

  /**
   * Gives a month back what it was before an invoice changed it. @throws AlreadyBuiltOn if another invoice has
   * changed it since; the write throws it too
   */
  const toRestoreMonth = async (invoice: Invoice, { month, before }: ReplacedMonth): Promise<Write> => {
    const current = await get(invoice.organization, month);
    const refused = () => new AlreadyBuiltOn(invoice);
    if (current?.invoice !== invoice.id) throw refused();
    const recordKey = monthRecordKey(invoice.organization, month);
    const { version } = current;
    if (!before) return { ...table.toDelete(recordKey, version), refused };
    const suspected = [...new Set([...before.suspected, ...daysBilledDifferently(before, current)])].sort();
    return { ...table.toReplace(recordKey, { ...before, suspected, version }), refused };
  };

  return {
    getState,
    toReplaceState,
    toReplace,

    get,

    /** The last billed months, newest first. */
    last: async (organization: string, limit: number): Promise<BilledMonth[]> => {
      const { rows } = await table.page({ account: organization, prefix: BILLED, newestFirst: true }, { limit });
      return rows.map((row) => BilledMonth.parse(row));
    },

    /** All billed months, oldest first. */
    all: async function* (organization: string): AsyncGenerator<BilledMonth> {
      for await (const row of table.all({ account: organization, prefix: BILLED })) yield BilledMonth.parse(row);
    },

    /** The days that were read for an invoice, or for an expiry of credit. */
    readDays: async (organization: string, reader: string): Promise<Map<string, BilledDay>> => {
      const days = new Map<string, BilledDay>();
      const prefix = readPrefix(reader);
      for await (const row of table.all({ account: organization, prefix }))
        days.set(String(row.record).slice(prefix.length), BilledDay.parse(row));
      return days;
    },

    /** The days that were read in part. */
    readParts: async (organization: string, reader: string): Promise<Map<string, PartOfDay>> => {
      const parts = new Map<string, PartOfDay>();
      const prefix = partPrefix(reader);
      for await (const row of table.all({ account: organization, prefix }))
        parts.set(String(row.record).slice(prefix.length), PartOfDay.parse(row));
      return parts;
    },

    /**
     * Keeps what was read of a day, and forgets the part that was read before: the first one that is kept is what an
     * invoice bills.
     * @throws PreconditionFailed if there is one
     */
    toKeepDay: (organization: string, reader: string, day: string, read: BilledDay): Write[] => [
      table.toCreate({ account: organization, record: readPrefix(reader) + day }, read, () => new PreconditionFailed()),
      table.toDelete({ account: organization, record: partPrefix(reader) + day }),
    ],

    /** Keeps what was read of a day so far. Any part is right, so the last one that is kept counts. */
    toKeepPart: (organization: string, reader: string, day: string, part: PartOfDay): Write =>
      table.toPut({ account: organization, record: partPrefix(reader) + day }, part),

    /**
     * Notes that events of a day were rated again, so that the next invoice reads it, although the totals of the day
     * may be too old to show that. It must be noted before the first and after the last of these events is written.
     * @param note any text that no other note has
     */
    toNoteRatedAgain: (organization: string, day: string, note: string, nowMs: number): Write =>
      table.toClaim(ratedAgainRecordKey(organization, day), { claim: note, nowMs }),

    /** The days that were noted, with their last notes. */
    daysRatedAgain: async (organization: string): Promise<Map<string, string>> => {
      const days = new Map<string, string>();
      for await (const { record, claim } of table.all({ account: organization, prefix: RATED_AGAIN }))
        days.set(String(record).slice(RATED_AGAIN.length), String(claim));
      return days;
    },

    /** Forgets a note, unless there is a later one. */
    forgetRatedAgain: (organization: string, day: string, note: string): Promise<void> =>
      table.unclaim(ratedAgainRecordKey(organization, day), note),

    /**
     * The writes with which an invoice becomes void: the months that it billed are billed as before, and so is what
     * it carried forward.
     * @throws AlreadyBuiltOn if a later invoice has changed one of them or used that amount; the writes throw it too
     */
    toRestore: async (invoice: Invoice): Promise<Write[]> => {
      const { organization, lines, replaced } = invoice;
      const state = await getState(organization);
      const carried = lines.filter(({ kind }) => kind === 'carried_forward');
      const carried_forward_nanos = carried.reduce((sum, { amount_nanos }) => sum + amount_nanos, state.carried_forward_nanos);
      const carried_by = state.carried_by.filter((id) => id !== invoice.id);
      // A later invoice uses the whole amount, and leaves what it has not used itself.
      const isUnused =
        invoice.carried_forward_nanos === 0n ||
        state.carried_by.includes(invoice.id) ||
        invoice.carried_forward_nanos === state.carried_forward_nanos;
      if (!isUnused) throw new AlreadyBuiltOn(invoice);
      return [
        ...(await Promise.all(replaced.map((month) => toRestoreMonth(invoice, month)))),
        // Also if the sum stays the same, because an invoice that uses it can be made meanwhile.
        ...(carried.length === 0 ? [] : [toReplaceState(organization, { ...state, carried_forward_nanos, carried_by })]),
      ];
    },
  };
};

export type BilledMonthsStore = ReturnType<typeof createBilledMonthsStore>;
