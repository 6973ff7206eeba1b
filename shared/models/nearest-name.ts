// A name with more differences is a different name.
const MAX_TYPING_ERRORS = 3;

// The Levenshtein distance: the least number of characters to insert, remove or replace.
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
};

/** The existing name that is most similar to an unknown one; undefined if none is similar. */
export const nearestName = (unknownName: string, names: readonly string[]): string | undefined => {
  const text = unknownName.slice(0, 256).toLowerCase();
  const near = names
    .filter((name) => Math.abs(name.length - text.length) <= MAX_TYPING_ERRORS)
    .map((name) => ({ name, slips: distance(text, name.toLowerCase()) }))
    .filter(({ slips }) => slips <= MAX_TYPING_ERRORS)
    .sort((a, b) => a.slips - b.slips);
  return near[0]?.name;
};
