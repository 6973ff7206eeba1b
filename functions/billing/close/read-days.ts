import type { BilledDay } from '../../../shared/billing/billed-month.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { BillingFiles } from '../../../shared/billing/billing-files.ts';
import type { Database } from '../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { storeDay } from './day-file.ts';
import { OutOfTime, readDay } from './read-day.ts';
import { openSources, type SourceDependencies } from './sources.ts';

export interface ReadDependencies extends SourceDependencies {
  database: Database;
  files: BillingFiles;
  billedMonths: Pick<BilledMonthsStore, 'readDays' | 'toKeepDay'>;
  /** False when a task must save its progress and end. */
  hasTime: () => boolean;
}

/** API keys and deployments whose events are read at the same time, each with up to 16 queries. */
const PARALLEL = 16;

/** What must be read for an invoice. */
export interface Reading {
  organization: string;
  invoice: string;
  days: readonly string[];
}

/** Keeps what was read, unless another closing of the same month has kept the day before. */
const keep = async (deps: ReadDependencies, { organization, invoice }: Reading, day: string, read: BilledDay): Promise<void> => {
  try {
    await transact(deps.database, [deps.billedMonths.toKeepDay(organization, invoice, day, read)]);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
  }
};

/**
 * Reads the events of these days, each once for an invoice: a day that was read before is not read again, even if the function crashed since or another
 * one closes the same month. With many keys, one day is read after the other, so that each invocation completes some.
 * @throws OutOfTime if days are missing when the time ends; what was read is kept
 */
export const readDays = async (deps: ReadDependencies, reading: Reading): Promise<Map<string, BilledDay>> => {
  const { organization, invoice, days } = reading;
  const kept = await deps.billedMonths.readDays(organization, invoice);
  const missing = days.filter((day) => !kept.has(day));
  if (missing.length === 0) return kept;
  const sourcesOf = await openSources(deps, organization, missing);
  const most = Math.max(1, ...missing.map((day) => sourcesOf(day).length));
  const daysAtOnce = Math.max(1, Math.floor(PARALLEL / most));
  const failures = await inParallel(missing, daysAtOnce, async (day) => {
    if (!deps.hasTime()) throw new OutOfTime();
    const read = await readDay(organization, day, sourcesOf(day), { parallel: Math.ceil(PARALLEL / daysAtOnce), hasTime: deps.hasTime });
    await keep(deps, reading, day, await storeDay(deps.files, read));
  });
  throwFailures(failures.filter((failure) => !(failure instanceof OutOfTime)));
  if (failures.length > 0) throw new OutOfTime();
  return deps.billedMonths.readDays(organization, invoice);
};
