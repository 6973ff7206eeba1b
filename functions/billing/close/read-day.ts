import { inParallel } from '../../../shared/database/in-parallel.ts';
import { createSourceCount } from './counted-events.ts';
import type { DayRead } from './day-file.ts';
import { addGroup, type Groups, listGroups } from './group.ts';
import type { EventSource } from './sources.ts';

/** There was no time to read everything. */
export class OutOfTime extends Error {}

/** What was read of a day before. */
export interface ReadBefore extends Pick<DayRead, 'groups' | 'sources' | 'counted'> {
  /** The last source that was read. */
  after: string;
  /** The number of sources that were read, also without events. */
  read: number;
}

/** What was read of a day: the sources up to one of them. */
interface DayReading extends DayRead {
  after: string;
  read: number;
  isWhole: boolean;
  /** Errors of the sources that could not be read, and OutOfTime for those that there was no time for. */
  failures: unknown[];
}

type SourceRead = { groups: Groups; end: ReturnType<ReturnType<typeof createSourceCount>['end']> };

/** The sources that were read before the first one that was not. */
const firstOf = (reads: readonly (SourceRead | undefined)[]): SourceRead[] => {
  const missing = reads.indexOf(undefined);
  return (missing === -1 ? reads : reads.slice(0, missing)) as SourceRead[];
};

/**
 * Reads the events of an organization's day and adds them up. The result of a whole day does not depend on how often
 * its reading was interrupted.
 * @param sources in the order of their ids
 * @param before what was read in an earlier invocation; those sources are not read again
 * @param parallel the number of sources that are read at the same time
 */
export const readDay = async (
  organization: string,
  day: string,
  sources: readonly EventSource[],
  { before, parallel, hasTime }: { before: ReadBefore | undefined; parallel: number; hasTime: () => boolean },
): Promise<DayReading> => {
  const { after = '', read = 0 } = before ?? {};
  const left = sources.filter(({ id }) => id > after);
  const reads: (SourceRead | undefined)[] = left.map(() => undefined);
  const failures = await inParallel([...left.entries()], parallel, async ([i, source]) => {
    if (!hasTime()) throw new OutOfTime();
    const groups: Groups = new Map();
    const count = createSourceCount(source.id, groups);
    await source.count(count.add);
    reads[i] = { groups, end: count.end() };
  });

  const done = firstOf(reads);
  const groups: Groups = new Map();
  for (const group of before?.groups ?? []) addGroup(groups, group);
  for (const source of done) for (const group of source.groups.values()) addGroup(groups, group);
  const counted = done.flatMap(({ end }) => end ?? []);
  return {
    organization,
    day,
    groups: listGroups(groups),
    sources: [...(before?.sources ?? []), ...counted.map(({ source }) => source)],
    counted: Buffer.concat([...(before ? [before.counted] : []), ...counted.flatMap(({ compressed }) => compressed)]),
    after: left[done.length - 1]?.id ?? after,
    read: read + done.length,
    isWhole: done.length === left.length,
    failures,
  };
};
