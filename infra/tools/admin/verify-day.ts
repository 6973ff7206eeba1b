import { type ChargeGroup, listGroups } from '../../../functions/billing/close/charge-group.ts';
import { type CountedSums, createSourceCount, readCounted } from '../../../functions/billing/close/counted-events.ts';
import type { DayFile } from '../../../functions/billing/close/day-file.ts';
import { listProjects, type ProjectSum } from '../../../functions/billing/close/project-sums.ts';
import { listServices, type ServiceSums } from '../../../functions/billing/close/service-sums.ts';
import type { EventSource } from '../../../functions/billing/close/sources.ts';
import { type BillingFiles, getFile } from '../../../shared/billing/billing-files.ts';
import { canonicalJson } from '../../../shared/billing/canonical-json.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';

/** An event that exists, and that the invoice did not count. */
export interface UncountedEvent {
  day: string;
  /** Its API key or deployment. */
  source: string;
  id: string;
  costNanos: bigint;
}

/** A day's counted events as they are now. */
export interface VerifiedDay {
  groups: ChargeGroup[];
  projects: ProjectSum[];
  /** The requests of models with a promise. */
  services: ServiceSums;
  /** The number of events that were counted. */
  events: number;
  /** Sentences. */
  differences: string[];
  uncounted: UncountedEvent[];
}

const SOURCES_AT_ONCE = 16;

/** The lines of the events that were counted, by source and id. */
export const countedLines = async (files: BillingFiles, file: DayFile): Promise<Map<string, Map<string, string>>> => {
  const sources = new Map<string, Map<string, string>>();
  for (const { source, id, line } of readCounted(await getFile(files, file.counted)))
    sources.set(source, (sources.get(source) ?? new Map<string, string>()).set(id, line));
  return sources;
};

/** An amount with its currency, such as `1.25 EUR`. */
export const amountText = (nanos: bigint, currency: string): string => `${dollarsOf(nanos)} ${currency}`;

const inWords = (source: { events: number; cost_nanos: bigint } | undefined, currency: string): string =>
  `${source?.events ?? 0} events and ${amountText(source?.cost_nanos ?? 0n, currency)}`;

/**
 * Counts the events of a day again, but only those that were counted for the invoice.
 * @param file what was counted; undefined: nothing
 * @param sources the API keys and deployments that have events now
 * @param promised the models with a promise for the month of the day
 * @param currency of the invoice
 */
export const verifyDay = async (
  files: BillingFiles,
  day: string,
  file: DayFile | undefined,
  sources: readonly EventSource[],
  promised: ReadonlySet<string>,
  currency: string,
): Promise<VerifiedDay> => {
  const counted = file ? await countedLines(files, file) : new Map<string, Map<string, string>>();
  const billed = new Map(file?.sources.map((source) => [source.id, source]));
  const readers = new Map(sources.map((source) => [source.id, source]));
  const sums: CountedSums = { groups: new Map(), projects: new Map(), services: new Map() };
  const result: VerifiedDay = { groups: [], projects: [], services: sums.services, events: 0, differences: [], uncounted: [] };

  const failures = await inParallel([...new Set([...readers.keys(), ...counted.keys()])].sort(), SOURCES_AT_ONCE, async (source) => {
    const lines = counted.get(source) ?? new Map<string, string>();
    const count = createSourceCount(source, sums, promised);
    const foundIds = new Set<string>();
    await readers.get(source)?.count((event) => {
      const line = lines.get(event.id);
      if (line === undefined) return void result.uncounted.push({ day, source, id: event.id, costNanos: event.group.cost_nanos });
      foundIds.add(event.id);
      const now = count.add(event);
      if (now !== line)
        result.differences.push(`${day}, ${source}: ${event.id} was changed. It was counted as ${line}, and now is ${now}.`);
    });
    for (const id of lines.keys())
      if (!foundIds.has(id)) result.differences.push(`${day}, ${source}: ${id} was counted and no longer exists.`);
    const now = count.end()?.source;
    result.events += now?.events ?? 0;
    if (canonicalJson(now) !== canonicalJson(billed.get(source)))
      result.differences.push(`${day}, ${source}: ${inWords(now, currency)}, but ${inWords(billed.get(source), currency)} were billed.`);
  });
  throwFailures(failures);
  result.groups = listGroups(sums.groups);
  result.projects = listProjects(sums.projects);
  const isSame =
    canonicalJson(result.groups) === canonicalJson(file?.groups ?? []) &&
    canonicalJson(result.projects) === canonicalJson(file?.projects ?? []) &&
    canonicalJson(listServices(sums.services)) === canonicalJson(file?.services ?? []);
  if (result.differences.length === 0 && !isSame)
    result.differences.push(`${day}: the events add up to other sums than the file of the day has.`);
  return result;
};
