const LONGEST_NGRAM_CHARACTERS = 4;
const SHORTEST_NGRAM_CHARACTERS = 3;
const NGRAM_WEIGHT = 0.2;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

// FNV-1a, 32 bits, over UTF-16 units.
const hash = (text: string): number => {
  let value = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), FNV_PRIME);
  return value >>> 0;
};

// Case and accents make no difference.
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

const count = (counts: Map<number, number>, feature: number, times: number): void => {
  counts.set(feature, (counts.get(feature) ?? 0) + times);
};

// Counts, by their 32-bit hashes, the words of a text and, with a lower weight, their character n-grams, so that "lock"
// resembles "locks". A text without words has itself as its only feature.
const countFeatures = (text: string): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const word of wordsOf(text)) {
    count(counts, hash(word), 1);
    const bounded = `<${word}>`;
    for (let length = SHORTEST_NGRAM_CHARACTERS; length <= LONGEST_NGRAM_CHARACTERS; length += 1) {
      for (let at = 0; at + length <= bounded.length; at += 1) count(counts, hash(`#${bounded.slice(at, at + length)}`), NGRAM_WEIGHT);
    }
  }
  if (counts.size === 0) counts.set(hash(text), 1);
  return counts;
};

/** Weighs words and parts of words of a text by how rare they are in a corpus. Keys are 32-bit hashes; never empty. */
export type WeighFeatures = (text: string) => ReadonlyMap<number, number>;

/** Reads the document frequencies of a corpus, one paragraph being one document. */
export const createFeatureWeights = (paragraphs: readonly string[]): WeighFeatures => {
  const frequencies = new Map<number, number>();
  for (const paragraph of paragraphs) for (const feature of countFeatures(paragraph).keys()) count(frequencies, feature, 1);
  const rarity = (feature: number): number => {
    const found = frequencies.get(feature) ?? 0;
    return Math.log(1 + (paragraphs.length - found + 0.5) / (found + 0.5));
  };
  return (text) => new Map([...countFeatures(text)].map(([feature, times]) => [feature, Math.log1p(times) * rarity(feature) ** 2]));
};
