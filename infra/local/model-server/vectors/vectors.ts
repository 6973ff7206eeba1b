import { once } from '../model/once.ts';
import { createFeatureWeights } from './features.ts';

/** Length of a vector that is not shortened. */
export const VECTOR_DIMENSIONS = 512;

// Each feature adds to so many numbers of a vector.
const NUMBERS_PER_FEATURE = 8;

/** A small model of similarity. The same text always gives the same numbers. */
export interface VectorModel {
  /** Returns a vector of length 1. A shortened one is the beginning of the whole one, scaled to length 1. */
  embed(text: string, dimensions?: number): Float32Array;
  /** Returns a logit: the higher, the more of the query's rare words a document has. */
  relevance(query: string): (document: string) => number;
}

// Xorshift, 32 bits.
const nextRandom = (state: number): number => {
  let next = state ^ (state << 13);
  next ^= next >>> 17;
  return (next ^ (next << 5)) >>> 0;
};

// A sparse random projection (Achlioptas, 2003).
const project = (weights: ReadonlyMap<number, number>): Float64Array => {
  const numbers = new Float64Array(VECTOR_DIMENSIONS);
  for (const [feature, weight] of weights) {
    let state = feature || 1;
    for (let turn = 0; turn < NUMBERS_PER_FEATURE; turn += 1) {
      state = nextRandom(state);
      const at = (state >>> 1) % VECTOR_DIMENSIONS;
      numbers[at] = (numbers[at] ?? 0) + (state & 1 ? weight : -weight);
    }
  }
  return numbers;
};

const toUnitLength = (numbers: Float64Array): Float32Array => {
  const length = Math.hypot(...numbers);
  if (length > 0) return Float32Array.from(numbers, (number) => number / length);
  return Float32Array.from(numbers, (_, at) => (at === 0 ? 1 : 0));
};

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);

// A document with 40 % of what is searched gets the logit 0.
const RELEVANT_SHARE = 0.4;
const LOGIT_SCALE = 10;

/** Creates the model from paragraphs of plain text. */
export const createVectorModel = (paragraphs: readonly string[]): VectorModel => {
  const weights = once(() => createFeatureWeights(paragraphs));
  const weigh = (text: string) => weights()(text);
  return {
    embed: (text, dimensions = VECTOR_DIMENSIONS) => toUnitLength(project(weigh(text)).subarray(0, dimensions)),
    relevance(query) {
      const searched = weigh(query);
      const most = sum(searched.values());
      return (document) => {
        const found = weigh(document);
        const shared = sum([...searched].map(([feature, weight]) => (found.has(feature) ? weight : 0)));
        return LOGIT_SCALE * (shared / most - RELEVANT_SHARE);
      };
    },
  };
};

/** The probability of a logit. */
export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
