import { countSequence, createNgrams, followersOf, LONGEST_CONTEXT, type Ngrams } from './ngrams.ts';
import { once } from './once.ts';
import type { ContainerTokenizer } from './tokenizer.ts';
import { indexTopics, nearestParagraphs, rarity } from './topics.ts';

// The cache holds the last tokens of the prompt and the paragraphs nearest to the query, which is the end of the
// prompt.
const COPIED_PROMPT_TOKENS = 512;
const QUERY_TOKENS = 128;
const NEAREST_PARAGRAPHS = 4;

// A context seen n times has the weight n / (n + doubt). The first doubt is for contexts of one token, the second for
// two.
const CORPUS_DOUBT = [0.5, 0.1];
const CACHE_DOUBT = [9, 0.7];
const PROMPT_WORD_BOOST = 1;

// Without a penalty, greedy n-gram text loops. Each repeat of a trigram in this window makes it less likely.
const REPETITION_WINDOW_TOKENS = 1_024;
const REPETITION_PENALTY = 2.5;

// So low that only a logit bias makes the token appear.
const NEVER_LOGIT = -50;
const UNSEEN_COUNT = 0.001;

/** The model's view of one prompt: its last tokens, the n-grams to copy, and a weight for each of its recent tokens. */
export interface PromptCache {
  tail: readonly number[];
  copied: Ngrams;
  boosts: ReadonlyMap<number, number>;
}

export interface LanguageModel {
  vocabularySize: number;
  /** The token that ends an answer. */
  endOfTurn: number;
  /** Reads the prompt's token ids. Call it once per request. */
  readPrompt(prompt: readonly number[]): PromptCache;
  /**
   * Returns a logit for each token of the vocabulary, given the answer's token ids so far; writes to `into` if present.
   * Logits are natural logarithms of probabilities plus a constant. The same arguments always give the same logits.
   */
  nextLogits(prompt: PromptCache, answer: readonly number[], into?: Float32Array): Float32Array;
}

/**
 * Trains an interpolated trigram model mixed with a cache of the prompt (Kuhn and De Mori, 1990).
 * Each paragraph of the corpus counts as one answer of the assistant. The first call trains it.
 * @param readBodies reads the token ids of each paragraph
 */
export const createModel = (readBodies: () => readonly number[][], tokenizer: ContainerTokenizer): LanguageModel => {
  const { vocabularySize, specials, encodeText } = tokenizer;
  const { startOfTurn, endOfTurn, endOfText } = specials;
  const opening = [startOfTurn, ...encodeText('assistant\n')];
  // By the first request: it takes most of the time in which a container starts, and many never get one.
  const trained = once(() => {
    const bodies = readBodies();
    const turns = bodies.map((body) => [...opening, ...body, endOfTurn]);
    const topics = indexTopics(bodies);
    const corpus = createNgrams(vocabularySize);
    for (const turn of turns) countSequence(corpus, turn);
    const answers = turns.map((turn) => turn.slice(opening.length));
    const base = unigramLogits(answers, vocabularySize);
    for (const id of [startOfTurn, endOfText]) base[id] = NEVER_LOGIT;
    return { turns, topics, corpus, base };
  });

  const readPrompt = (prompt: readonly number[]): PromptCache => {
    const { topics, turns } = trained();
    const words = wordsOf(prompt, startOfTurn, opening.at(-1)).filter((id) => id !== endOfTurn);
    const query = words.slice(-QUERY_TOKENS);
    const copied = createNgrams(vocabularySize);
    countSequence(copied, words.slice(-COPIED_PROMPT_TOKENS));
    for (const at of nearestParagraphs(topics, query, NEAREST_PARAGRAPHS)) countSequence(copied, turns[at] ?? []);
    const boosts = new Map(query.map((id) => [id, 1 + PROMPT_WORD_BOOST * rarity(topics, id)]));
    return { tail: prompt.slice(-LONGEST_CONTEXT), copied, boosts };
  };

  // Reused by all calls; each call leaves it all zero.
  const added = new Float64Array(vocabularySize);

  const nextLogits = (prompt: PromptCache, answer: readonly number[], into = new Float32Array(vocabularySize)): Float32Array => {
    const context = answer.length < LONGEST_CONTEXT ? [...prompt.tail, ...answer] : answer.slice(-LONGEST_CONTEXT);
    const { corpus, base } = trained();
    const touched: number[] = [];
    let rest = 1;
    const mix = (ngrams: Ngrams, doubts: readonly number[]) =>
      followersOf(ngrams, context).forEach((followers, i) => {
        const share = followers.length / (followers.length + (doubts[i] ?? 1));
        rest *= 1 - share;
        for (const id of followers) {
          if (added[id] === 0) touched.push(id);
          added[id] = (added[id] ?? 0) + share / followers.length / rest;
        }
      });
    mix(corpus, CORPUS_DOUBT);
    mix(prompt.copied, CACHE_DOUBT);

    into.set(base);
    for (const id of touched) {
      into[id] = Math.log(Math.exp(base[id] ?? 0) + (added[id] ?? 0) * (prompt.boosts.get(id) ?? 1));
      added[id] = 0;
    }
    for (const id of repeatedFollowers(answer)) into[id] = (into[id] ?? 0) - REPETITION_PENALTY;
    return into;
  };

  return { vocabularySize, endOfTurn, readPrompt, nextLogits };
};

const unigramLogits = (answers: readonly (readonly number[])[], vocabularySize: number): Float32Array => {
  const counts = new Float64Array(vocabularySize).fill(UNSEEN_COUNT);
  for (const answer of answers) for (const id of answer) counts[id] = (counts[id] ?? 0) + 1;
  const total = counts.reduce((sum, count) => sum + count, 0);
  return Float32Array.from(counts, (count) => Math.log(count / total));
};

// Without the start token, role and newline of each turn.
const wordsOf = (prompt: readonly number[], startOfTurn: number, newline: number | undefined): number[] => {
  let inOpening = false;
  return prompt.filter((id) => {
    if (id === startOfTurn) inOpening = true;
    if (!inOpening) return true;
    inOpening = id !== newline;
    return false;
  });
};

// The tokens that followed the answer's last two tokens earlier in the answer, with repeats.
const repeatedFollowers = (answer: readonly number[]): number[] => {
  const found: number[] = [];
  const last = answer.at(-1);
  const previous = answer.at(-2);
  for (let i = Math.max(2, answer.length - REPETITION_WINDOW_TOKENS); i < answer.length; i++) {
    if (answer[i - 1] === last && answer[i - 2] === previous) found.push(answer[i] ?? 0);
  }
  return found;
};
