import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';

const READS_AT_ONCE = 16;

/** An id without its prefix: ids of both kinds of events continue with their time, so these sort by time. */
export const sortKeyOf = (id: string): string => id.slice(id.indexOf('_') + 1);

type Ordered<Event> = AsyncIterator<Event> | Iterator<Event>;

/**
 * Merges lists of events, each in the order of time. Reads no more of them than it needs.
 * @throws AggregateError if a list cannot be read
 */
export async function* mergeEvents<Event extends { id: string }>(lists: readonly Ordered<Event>[]): AsyncGenerator<Event> {
  const heads: { event: Event; list: Ordered<Event> }[] = [];
  const failures = await inParallel(lists, READS_AT_ONCE, async (list) => {
    const { done, value } = await list.next();
    if (!done) heads.push({ event: value, list });
  });
  throwFailures(failures);
  while (heads.length > 0) {
    let first = 0;
    for (let i = 1; i < heads.length; i++)
      if (sortKeyOf((heads[i] as (typeof heads)[0]).event.id) < sortKeyOf((heads[first] as (typeof heads)[0]).event.id)) first = i;
    const head = heads[first] as (typeof heads)[0];
    yield head.event;
    const { done, value } = await head.list.next();
    if (done) heads.splice(first, 1);
    else head.event = value;
  }
}
