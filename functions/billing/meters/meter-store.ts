import * as z from 'zod';
import type { RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { METERS } from './meter-export.ts';

const Integer = z.union([z.int(), z.bigint()]).transform(BigInt);
const Amounts = z.partialRecord(z.enum(METERS), Integer);
export type Amounts = z.output<typeof Amounts>;

/** What was exported of an hour. */
export const MeteredHour = z.object({
  /** What the receiver has counted. */
  sent: Amounts,
  /** What is being sent; null: nothing. It is stored before it is sent, so that a repetition sends the same. */
  pending: z.object({ amounts: Amounts, customer: z.string(), since: z.int() }).nullable(),
  /** How often something was sent: the number of the next correction. */
  count: z.int().min(0),
  version: z.int().min(0),
});
export type MeteredHour = z.output<typeof MeteredHour>;

/** An hour of which nothing was exported. */
export const NOT_METERED: MeteredHour = { sent: {}, pending: null, count: 0, version: 0 };

const recordOf = (hour: number): string => `meter#${hour}`;

/**
 * What was exported to meters, in the table `billing`: a row for each hour of an organization. The only code that
 * knows its key.
 */
export const createMeterStore = (table: RecordTable) => ({
  /** What was exported of these hours, at most 100, by the start of the hour; an hour without a row is not in it. */
  getMany: async (organization: string, hours: readonly number[]): Promise<Map<number, MeteredHour>> => {
    const rows = await table.getMany(hours.map((hour) => ({ account: organization, record: recordOf(hour) })));
    return new Map(rows.map((row) => [Number(String(row.record).slice('meter#'.length)), MeteredHour.parse(row)]));
  },

  /** Replaces the row that was read, or creates it: 412 if another task was faster. */
  toReplace: (organization: string, hour: number, row: MeteredHour): Write => {
    const place = { account: organization, record: recordOf(hour) };
    return row.version === 0 ? table.toCreate(place, { ...row, version: 1 }, () => new PreconditionFailed()) : table.toReplace(place, row);
  },
});

export type MeterStore = ReturnType<typeof createMeterStore>;
