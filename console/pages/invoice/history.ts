import type { CreditNote, Invoice } from './invoice.ts';

/** Something that happened to an invoice. */
export interface HistoryEntry {
  /** Unix seconds. */
  at: number;
  text: string;
  /** Words of people, such as a reason. */
  remark?: string;
  /** The amount that it is about. */
  amount?: string;
}

/** The events of an invoice, in the order of time. One that is only due is the last entry. */
export const historyOf = (
  { created_at, number, issued_at, due_at, paid_at, payment_reference, voided_at, void_reason, total, state }: Invoice,
  notes: readonly Pick<CreditNote, 'issued_at' | 'number' | 'amount' | 'reason'>[],
): readonly HistoryEntry[] => {
  const entries: (HistoryEntry | undefined)[] = [
    { at: created_at, text: 'Month closed' },
    issued_at === null ? undefined : { at: issued_at, text: `Issued as ${number}`, amount: total },
    ...notes.map((note) => ({ at: note.issued_at, text: `Credited by ${note.number}`, amount: note.amount, remark: note.reason })),
    paid_at === null ? undefined : { at: paid_at, text: 'Paid', ...(payment_reference !== null && { remark: payment_reference }) },
    voided_at === null
      ? undefined
      : {
          at: voided_at,
          text: number === null ? 'Draft deleted' : 'Voided',
          ...(void_reason !== null && { remark: void_reason }),
        },
    due_at === null || state !== 'issued' ? undefined : { at: due_at, text: 'Due' },
  ];
  return entries.filter((entry) => entry !== undefined).sort((one, other) => one.at - other.at);
};
