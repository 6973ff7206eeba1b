// The paragraphs that each token occurs in, and the length of each paragraph in tokens.
interface TopicIndex {
  postings: ReadonlyMap<number, readonly number[]>;
  lengths: readonly number[];
}

/** Creates an index that finds tokenized paragraphs by their tokens. */
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

/** The token's inverse document frequency; 0 for a token in no paragraph or in all. */
export const rarity = ({ postings, lengths }: TopicIndex, token: number): number => {
  const found = postings.get(token)?.length;
  return found === undefined ? 0 : Math.log(lengths.length / found);
};

/**
 * Returns the indexes of the `count` paragraphs most similar to the query, best first. Each shares a token with the
 * query.
 */
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
