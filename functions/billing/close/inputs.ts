import * as z from 'zod';
import type { BilledDay } from '../../../shared/billing/billed-month.ts';
import { PromiseFigures } from '../../../shared/service-levels/promise.ts';
import { addGroup, type ChargeGroup, type ChargeGroups, listGroups } from './charge-group.ts';
import { type DayFile, monthOfDay } from './day-file.ts';
import { Prices } from './invoice-prices.ts';
import { addProject, listProjects, type ProjectSum, type ProjectSums, projectsOf } from './project-sums.ts';
import { addServices, readServices, type ServiceSums } from './service-sums.ts';

const Amount = z
  .string()
  .regex(/^-?\d+$/)
  .transform(BigInt);

// `before` and `read` are the hashes of the day's files, which their keys contain. Null: no events.
const InputDay = z.object({
  day: z.string(),
  /** The file that earlier invoices billed. */
  before: z.string().nullable(),
  read: z.string().nullable(),
});

/** The file with all inputs of an invoice. Amounts are stored as text. */
export const Inputs = z.object({
  invoice: z.string(),
  organization: z.string(),
  month: z.string(),
  days: z.array(InputDay),
  prices: Prices,
  carried_forward_nanos: Amount,
  /** The promises for the month; absent: there were none. */
  promises: z.array(z.object({ model: z.string(), figures: PromiseFigures })).optional(),
  taxes: z.array(z.object({ description: z.string(), amount_nanos: Amount })),
});
export type Inputs = z.output<typeof Inputs>;
export type InputDay = z.output<typeof InputDay>;

/** Loads the file of a day; undefined if it had no events. */
export type LoadDay = (day: string, read: Pick<BilledDay, 'sha256'>) => Promise<DayFile | undefined>;

/** The charges of some days: the events that were read, less those billed before. */
export interface ChargesOfDays {
  /** By month. */
  groups: Map<string, ChargeGroup[]>;
  /** None if no request was in a project. */
  projects: ProjectSum[];
  /** The requests of models with a promise, by month: of what was read. */
  services: Map<string, ServiceSums>;
}

const withServices = (sums: ServiceSums = new Map(), file: DayFile | undefined): ServiceSums => {
  addServices(sums, readServices(file?.services));
  return sums;
};

/** Adds up the charges of days from their files. */
export const chargesOf = async (days: readonly InputDay[], load: LoadDay): Promise<ChargesOfDays> => {
  const months = new Map<string, ChargeGroups>();
  const projects: ProjectSums = new Map();
  const services = new Map<string, ServiceSums>();
  for (const { day, before, read } of days) {
    const groups: ChargeGroups = months.get(monthOfDay(day)) ?? new Map();
    months.set(monthOfDay(day), groups);
    for (const [sha256, sign] of [[read, 1] as const, [before, -1] as const]) {
      const file = await load(day, { sha256 });
      for (const group of file?.groups ?? []) addGroup(groups, group, sign);
      if (sign === 1) services.set(monthOfDay(day), withServices(services.get(monthOfDay(day)), file));
      for (const sum of file ? projectsOf(file) : []) addProject(projects, sum, sign);
    }
  }
  return { groups: new Map([...months].map(([month, groups]) => [month, listGroups(groups)])), projects: listProjects(projects), services };
};
