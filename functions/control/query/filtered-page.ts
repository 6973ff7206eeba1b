import type { PageRequest } from '../../../shared/http/page.ts';

// A filter that few entries match must not make a request endless.
const MAX_READS = 10;
const READ_AT_ONCE = 100;

interface Search<Entry> {
  /** Reads a page; `next` is the `after` of the following one, null if there is none. */
  read: (request: PageRequest) => Promise<{ entries: readonly Entry[]; next: string | null }>;
  /** The `after` of the entries that follow an entry. */
  cursorOf: (entry: Entry) => string;
  isWanted: (entry: Entry) => boolean;
}

/**
 * Searches a list for a page of entries, and reads at most 1,000 entries for it.
 * @returns fewer entries than `limit`, or none, although `next` is not null, if few of those that were read are wanted
 */
export const filteredPage = async <Entry>(
  { limit, after }: PageRequest,
  { read, cursorOf, isWanted }: Search<Entry>,
): Promise<{ entries: Entry[]; next: string | null }> => {
  const found: Entry[] = [];
  let from = after;
  for (let reads = 1; ; reads++) {
    const { entries, next } = await read({ limit: READ_AT_ONCE, after: from });
    for (const [i, entry] of entries.entries()) {
      if (!isWanted(entry) || found.push(entry) < limit) continue;
      const isLast = i === entries.length - 1 && next === null;
      return { entries: found, next: isLast ? null : cursorOf(entry) };
    }
    if (next === null || reads === MAX_READS) return { entries: found, next };
    from = next;
  }
};
