import { inParallel } from '../../../shared/database/in-parallel.ts';
import { addGroup, type ChargeGroups, listGroups } from './charge-group.ts';
import { type CountedSums, createSourceCount } from './counted-events.ts';
import type { DayRead } from './day-file.ts';
import { addProject, listProjects, type ProjectSums, projectsOf } from './project-sums.ts';
import { addServices, listServices, readServices, type ServiceSums } from './service-sums.ts';
import type { EventSource } from './sources.ts';

/** The invocation ended before everything was read. */
export class OutOfTime extends Error {}

/** The part of a day that an earlier invocation read. */
export interface ReadBefore extends Pick<DayRead, 'groups' | 'projects' | 'services' | 'sources' | 'counted'> {
  /** The id of the last source that was read. */
  after: string;
  /** The number of sources that were read, including those without events. */
  read: number;
}

interface DayReading extends DayRead {
  after: string;
  read: number;
  isWhole: boolean;
  /** Errors of sources, and OutOfTime for sources that were not reached in time. */
  failures: unknown[];
}

type SourceRead = CountedSums & { end: ReturnType<ReturnType<typeof createSourceCount>['end']> };

const firstOf = (reads: readonly (SourceRead | undefined)[]): SourceRead[] => {
  const missing = reads.indexOf(undefined);
  return (missing === -1 ? reads : reads.slice(0, missing)) as SourceRead[];
};

interface Reader {
  before: ReadBefore | undefined;
  parallel: number;
  promised?: ReadonlySet<string> | undefined;
  hasTime: () => boolean;
}

/**
 * Reads the events of an organization's day and adds them up. Interruptions don't change the result of the whole day.
 * @param sources in the order of their ids
 * @param before the part read by an earlier invocation; its sources are not read again
 * @param parallel the number of sources read at the same time
 * @param promised the models with a promise for the month of the day
 */
export const readDay = async (
  organization: string,
  day: string,
  sources: readonly EventSource[],
  { before, parallel, promised, hasTime }: Reader,
): Promise<DayReading> => {
  const { after = '', read = 0 } = before ?? {};
  const left = sources.filter(({ id }) => id > after);
  const reads: (SourceRead | undefined)[] = left.map(() => undefined);
  const failures = await inParallel([...left.entries()], parallel, async ([i, source]) => {
    if (!hasTime()) throw new OutOfTime();
    const sums: CountedSums = { groups: new Map(), projects: new Map(), services: new Map() };
    const count = createSourceCount(source.id, sums, promised);
    await source.count(count.add);
    reads[i] = { ...sums, end: count.end() };
  });

  const done = firstOf(reads);
  const groups: ChargeGroups = new Map();
  for (const group of before?.groups ?? []) addGroup(groups, group);
  for (const source of done) for (const group of source.groups.values()) addGroup(groups, group);
  const projects: ProjectSums = new Map();
  for (const sum of before ? projectsOf(before) : []) addProject(projects, sum);
  for (const source of done) for (const sum of source.projects.values()) addProject(projects, sum);
  const services: ServiceSums = new Map();
  for (const sums of [readServices(before?.services), ...done.map((source) => source.services)]) addServices(services, sums);
  const counted = done.flatMap(({ end }) => end ?? []);
  return {
    organization,
    day,
    groups: listGroups(groups),
    projects: listProjects(projects),
    services: listServices(services),
    sources: [...(before?.sources ?? []), ...counted.map(({ source }) => source)],
    counted: Buffer.concat([...(before ? [before.counted] : []), ...counted.flatMap(({ compressed }) => compressed)]),
    after: left[done.length - 1]?.id ?? after,
    read: read + done.length,
    isWhole: done.length === left.length,
    failures,
  };
};
