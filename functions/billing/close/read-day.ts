import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { createSourceCount } from './counted-events.ts';
import type { DayRead, Source } from './day-file.ts';
import { type Groups, listGroups } from './group.ts';
import type { EventSource } from './sources.ts';

/** There was no time to read a whole day. */
export class OutOfTime extends Error {}

/**
 * Reads the events of an organization's day and adds them up. The result does not depend on the order in which the sources are read.
 * @param parallel the number of sources that are read at the same time
 * @throws OutOfTime; AggregateError if a source could not be read
 */
export const readDay = async (
  organization: string,
  day: string,
  sources: readonly EventSource[],
  { parallel, hasTime }: { parallel: number; hasTime: () => boolean },
): Promise<DayRead> => {
  const groups: Groups = new Map();
  const counted: { source: Source; compressed: Uint8Array[] }[] = [];
  const failures = await inParallel(sources, parallel, async (source) => {
    if (!hasTime()) throw new OutOfTime();
    const count = createSourceCount(source.id, groups);
    await source.count(count.add);
    const end = count.end();
    if (end) counted.push(end);
  });
  if (failures.some((failure) => failure instanceof OutOfTime)) throw new OutOfTime();
  throwFailures(failures);
  counted.sort((a, b) => (a.source.id < b.source.id ? -1 : 1));
  return {
    organization,
    day,
    groups: listGroups(groups),
    sources: counted.map(({ source }) => source),
    counted: Buffer.concat(counted.flatMap(({ compressed }) => compressed)),
  };
};
