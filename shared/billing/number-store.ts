import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';

/** Documents that are numbered without gaps, each kind in a series of its own. */
export type NumberSeries = 'invoice' | 'credit-note';

const NUMBER_DIGITS = 6;

const recordKeyOf = (series: NumberSeries): RecordKey => ({ account: 'platform', record: `number#${series}` });

/** Another document took this number at the same time. */
export class NumberInUse extends Error {}

/** The printed number of a document, such as `INV-000042`. */
export const printedNumber = (prefix: string, number: number): string => prefix + String(number).padStart(NUMBER_DIGITS, '0');

/**
 * The last numbers of invoices and credit notes, in the table `billing`. A row's version is the last number that was
 * taken.
 */
export const createNumberStore = (table: RecordTable) => ({
  /** The last number of a series; 0 if there is none. */
  last: async (series: NumberSeries): Promise<number> => Number((await table.get(recordKeyOf(series)))?.version ?? 0),

  /**
   * Takes the number after `last`, in the transaction that assigns it: so a number is never without its document.
   * Fails with NumberInUse.
   */
  toTake: (series: NumberSeries, last: number): Write => ({
    ...table.toSave(recordKeyOf(series), { version: last }),
    refused: () => new NumberInUse(),
  }),
});

export type NumberStore = ReturnType<typeof createNumberStore>;
