import type { BilledDay, PartOfDay } from '../../../shared/billing/billed-month.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import { type BillingFiles, getFile } from '../../../shared/billing/billing-files.ts';
import type { Database } from '../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import type { ModelPromises } from '../../../shared/service-levels/promise.ts';
import { loadDay, monthOfDay, storeDay } from './day-file.ts';
import { OutOfTime, type ReadBefore, readDay } from './read-day.ts';
import { promisesOf } from './service-sums.ts';
import { type EventSource, openSources, type SourceDependencies } from './sources.ts';

export interface ReadDependencies extends SourceDependencies {
  database: Database;
  files: BillingFiles;
  billedMonths: Pick<BilledMonthsStore, 'readDays' | 'readParts' | 'toKeepDay' | 'toKeepPart'>;
  /** False when a task must save its progress and end. */
  hasTime: () => boolean;
}

// Each API key or deployment makes up to 16 queries at a time.
const PARALLEL_SOURCES = 16;

export interface Reading {
  organization: string;
  /** The id under which the days are stored: that of an invoice, or of a check of an expiry of credit. */
  reader: string;
  days: readonly string[];
  /** The promises of all models; absent: service levels are not counted. */
  promises?: readonly ModelPromises[];
}

const openPart = async ({ files }: ReadDependencies, { organization }: Reading, day: string, part: PartOfDay): Promise<ReadBefore> => {
  const file = await loadDay(files, organization, day, part);
  const counted = file ? await getFile(files, file.counted) : Buffer.alloc(0);
  return {
    groups: file?.groups ?? [],
    projects: file?.projects,
    services: file?.services,
    sources: file?.sources ?? [],
    counted,
    after: part.after,
    read: part.sources,
  };
};

// Another function may have stored the day for the same reader before.
const storeWholeDay = async (deps: ReadDependencies, { organization, reader }: Reading, day: string, read: BilledDay): Promise<void> => {
  try {
    await transact(deps.database, deps.billedMonths.toKeepDay(organization, reader, day, read));
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
  }
};

const readAndStore = async (
  deps: ReadDependencies,
  reading: Reading,
  day: string,
  { sources, part, parallel }: { sources: readonly EventSource[]; part: PartOfDay | undefined; parallel: number },
): Promise<unknown[]> => {
  const { organization, reader } = reading;
  const before = part && (await openPart(deps, reading, day, part));
  const promised = new Set(promisesOf(reading.promises ?? [], monthOfDay(day)).map(({ model }) => model));
  const read = await readDay(organization, day, sources, { before, parallel, promised, hasTime: deps.hasTime });
  const hasMore = read.read > (before?.read ?? 0);
  if (!read.isWhole && !hasMore) return read.failures;
  const stored = await storeDay(deps.files, read);
  if (read.isWhole) await storeWholeDay(deps, reading, day, stored);
  else
    await transact(deps.database, [
      deps.billedMonths.toKeepPart(organization, reader, day, { ...stored, after: read.after, sources: read.read }),
    ]);
  return read.failures;
};

/**
 * Reads the events of these days, once for each reader: days and API keys that were read before are not read again,
 * even after a crash or if another function closes the same month. With many keys, days are read one after the other,
 * so that few are left in part.
 * @throws OutOfTime if days are missing when the time ends; AggregateError if a source can't be read. Days that were
 * read stay stored.
 */
export const readDays = async (deps: ReadDependencies, reading: Reading): Promise<Map<string, BilledDay>> => {
  const { organization, reader, days } = reading;
  const stored = await deps.billedMonths.readDays(organization, reader);
  const missing = days.filter((day) => !stored.has(day));
  if (missing.length === 0) return stored;
  const parts = await deps.billedMonths.readParts(organization, reader);
  const sourcesOf = await openSources(deps, organization, missing);
  const most = Math.max(1, ...missing.map((day) => sourcesOf(day).length));
  const daysAtOnce = Math.max(1, Math.floor(PARALLEL_SOURCES / most));
  const ofSources: unknown[] = [];
  const ofDays = await inParallel(missing, daysAtOnce, async (day) => {
    if (!deps.hasTime()) throw new OutOfTime();
    const of = { sources: sourcesOf(day), part: parts.get(day), parallel: Math.ceil(PARALLEL_SOURCES / daysAtOnce) };
    ofSources.push(...(await readAndStore(deps, reading, day, of)));
  });
  const failures = [...ofDays, ...ofSources];
  throwFailures(failures.filter((failure) => !(failure instanceof OutOfTime)));
  if (failures.length > 0) throw new OutOfTime();
  return deps.billedMonths.readDays(organization, reader);
};

/**
 * Measures how much was read for a reader: whole days, and sources of other days. It changes whenever more was read.
 */
export const progressOf = async (
  { billedMonths }: Pick<ReadDependencies, 'billedMonths'>,
  organization: string,
  reader: string,
): Promise<string> => {
  const days = await billedMonths.readDays(organization, reader);
  const parts = await billedMonths.readParts(organization, reader);
  return `${days.size}.${[...parts.values()].reduce((sum, { sources }) => sum + sources, 0)}`;
};
