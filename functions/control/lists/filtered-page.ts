import type { PageRequest } from '../../../shared/http/page.ts';

// A filter that few entries match must not make a request endless.
const MAX_READS = 10;
const READ_AT_ONCE = 100;

/** A sentence for the reference. */
export const SHORT_PAGES = 'A page can have fewer entries than `limit`, or none, although `has_more` is true.';

interface Search<Entry> {
  /** Reads a page, and returns what is wanted of it. `next`: the `after` of the following page; null: there is none. */
  read: (request: PageRequest) => Promise<{ wanted: readonly Entry[]; next: string | null }>;
  /** The `after` of the entries that follow an entry. */
  cursorOf: (entry: Entry) => string;
  /** False: all entries are wanted, so that no more are read than fit the page. */
  isFiltered: boolean;
}

/**
 * Searches a list for a page of entries, and reads at most 1,000 entries for it.
 * @returns fewer entries than `limit`, or none, although `next` is not null, if few of those that were read are wanted
 */
export const filteredPage = async <Entry>(
  { limit, after }: PageRequest,
  { read, cursorOf, isFiltered }: Search<Entry>,
): Promise<{ entries: Entry[]; next: string | null }> => {
  const entries: Entry[] = [];
  let from = after;
  for (let reads = 1; ; reads++) {
    const { wanted, next } = await read({ limit: isFiltered ? READ_AT_ONCE : limit - entries.length, after: from });
    const taken = wanted.slice(0, limit - entries.length);
    entries.push(...taken);
    const last = taken.at(-1);
    // The rest of what was read belongs to the following page.
    if (last !== undefined && taken.length < wanted.length) return { entries, next: cursorOf(last) };
    if (next === null || entries.length === limit || reads === MAX_READS) return { entries, next };
    from = next;
  }
};
