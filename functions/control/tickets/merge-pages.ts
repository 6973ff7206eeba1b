interface Entries<Entry> {
  entries: readonly Entry[];
  hasMore: boolean;
}

/**
 * Merges the pages of several lists, each of which begins after the same id, into one page. Ids begin with their time.
 * A list that has more can have fewer entries than the limit: what others have after its last one is left for later.
 */
export const inOrder = <Entry extends { id: string }>(
  lists: readonly Entries<Entry>[],
  limit: number,
): { entries: Entry[]; has_more: boolean; next: string | null } => {
  const ends = lists.flatMap(({ entries, hasMore }) => (hasMore ? entries.slice(-1) : []));
  const all = lists
    .flatMap(({ entries }) => entries)
    .filter(({ id }) => ends.every((end) => id <= end.id))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const entries = all.slice(0, limit);
  const has_more = all.length > limit || lists.some(({ hasMore }) => hasMore);
  return { entries, has_more, next: has_more ? (entries.at(-1)?.id ?? null) : null };
};
