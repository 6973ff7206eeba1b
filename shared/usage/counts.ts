/** How often each thing was seen; what is not in it was not seen. */
export type Counts<Thing> = Map<Thing, number>;

/** Counts a thing, in place. */
export const count = <Thing>(counts: Counts<Thing>, thing: Thing, times = 1): void => {
  counts.set(thing, (counts.get(thing) ?? 0) + times);
};

/** The counts of both together. */
export const mergeCounts = <Thing>(a: Counts<Thing>, b: Counts<Thing>): Counts<Thing> => {
  const merged = new Map(a);
  for (const [thing, times] of b) count(merged, thing, times);
  return merged;
};
