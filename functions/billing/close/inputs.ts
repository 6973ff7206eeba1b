import * as z from 'zod';
import type { BilledDay } from '../../../shared/billing/billed-month.ts';
import type { DayFile } from './day-file.ts';
import { addGroup, type Group, type Groups, listGroups } from './group.ts';
import { Prices } from './price-book.ts';

const Amount = z
  .string()
  .regex(/^-?\d+$/)
  .transform(BigInt);

/** A day that an invoice bills: the hashes of its files, which their keys contain; null: it had no events. */
const InputDay = z.object({
  day: z.string(),
  /** What it was billed as before, by earlier invoices. */
  before: z.string().nullable(),
  read: z.string().nullable(),
});

/** The file with everything that an invoice was made from. Amounts are text in it. */
export const Inputs = z.object({
  invoice: z.string(),
  organization: z.string(),
  month: z.string(),
  days: z.array(InputDay),
  prices: Prices,
  carried_forward_nanos: Amount,
  taxes: z.array(z.object({ description: z.string(), amount_nanos: Amount })),
});
export type Inputs = z.output<typeof Inputs>;
export type InputDay = z.output<typeof InputDay>;

export const monthOfDay = (day: string): string => day.slice(0, 7);

/** Finds the file of a day; undefined if it had no events. */
export type LoadDay = (day: string, read: Pick<BilledDay, 'sha256'>) => Promise<DayFile | undefined>;

/** The groups of the days by month: what was read now, less what was billed before. */
export const groupsByMonth = async (days: readonly InputDay[], load: LoadDay): Promise<Map<string, Group[]>> => {
  const months = new Map<string, Groups>();
  for (const { day, before, read } of days) {
    const groups: Groups = months.get(monthOfDay(day)) ?? new Map();
    months.set(monthOfDay(day), groups);
    for (const group of (await load(day, { sha256: read }))?.groups ?? []) addGroup(groups, group);
    for (const group of (await load(day, { sha256: before }))?.groups ?? []) addGroup(groups, group, -1);
  }
  return new Map([...months].map(([month, groups]) => [month, listGroups(groups)]));
};
