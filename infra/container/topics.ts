/** The paragraphs each token occurs in, and how telling the token is. */
interface TopicIndex {
  readonly postings: ReadonlyMap<number, readonly number[]>;
  readonly lengths: readonly number[];
}

/** Tokenized paragraphs in, an index to find them by tokens out. */
export const indexTopics = (paragraphs: readonly (readonly number[])[]): TopicIndex => {
  const postings = new Map<number, number[]>();
  paragraphs.forEach((paragraph, at) => {
    for (const token of new Set(paragraph)) {
      const known = postings.get(token);
      if (known) known.push(at);
      else postings.set(token, [at]);
    }
  });
  return { postings, lengths: paragraphs.map(({ length }) => length) };
};

/** How rare a token is among paragraphs: 0 for one in every paragraph or in none, more for a rarer one (inverse document frequency). */
export const rarity = ({ postings, lengths }: TopicIndex, token: number): number => {
  const found = postings.get(token)?.length;
  return found === undefined ? 0 : Math.log(lengths.length / found);
};

/** A query's tokens in, the positions of the `count` paragraphs nearest to it out, best first; paragraphs that share nothing stay away. */
export const nearestParagraphs = (index: TopicIndex, query: Iterable<number>, count: number): number[] => {
  const scores = new Map<number, number>();
  for (const token of new Set(query)) {
    const weight = rarity(index, token) ** 2;
    for (const at of index.postings.get(token) ?? []) scores.set(at, (scores.get(at) ?? 0) + weight);
  }
  return [...scores]
    .map(([at, score]) => ({ at, score: score / Math.sqrt(index.lengths[at] ?? 1) }))
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, count)
    .map(({ at }) => at);
};
