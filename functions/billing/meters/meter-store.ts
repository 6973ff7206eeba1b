import * as z from 'zod';
import type { RecordTable } from '../../../shared/database/record-table.ts';
import { StoredInteger } from '../../../shared/database/stored-integer.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { METERS } from './meter-export.ts';

const Amounts = z.partialRecord(z.enum(METERS), StoredInteger);
export type Amounts = z.output<typeof Amounts>;

/** The export state of one hour. */
export const MeteredHour = z.object({
  /** The amounts that the receiver has confirmed. */
  sent: Amounts,
  /**
   * The amounts being sent; null if none. They are stored before they are sent, so that a repetition sends the same.
   */
  pending: z.object({ amounts: Amounts, customer: z.string(), since: z.int() }).nullable(),
  /** The number of events sent before, which is part of the next identifier. */
  count: z.int().min(0),
  version: z.int().min(0),
});
export type MeteredHour = z.output<typeof MeteredHour>;

/** An hour of which nothing was exported. */
export const NOT_METERED: MeteredHour = { sent: {}, pending: null, count: 0, version: 0 };

const recordOf = (hour: number): string => `meter#${hour}`;

/** The store of export states, in the table `billing`: a row for each hour of an organization. */
export const createMeterStore = (table: RecordTable) => ({
  /** The states of at most 100 hours, by the start of the hour. Hours without a row are left out. */
  getMany: async (organization: string, hours: readonly number[]): Promise<Map<number, MeteredHour>> => {
    const rows = await table.getMany(hours.map((hour) => ({ account: organization, record: recordOf(hour) })));
    return new Map(rows.map((row) => [Number(String(row.record).slice('meter#'.length)), MeteredHour.parse(row)]));
  },

  /** Replaces the row that was read, or creates it. Fails with 412 if another task wrote it meanwhile. */
  toReplace: (organization: string, hour: number, row: MeteredHour): Write =>
    table.toSave({ account: organization, record: recordOf(hour) }, row),
});

export type MeterStore = ReturnType<typeof createMeterStore>;
