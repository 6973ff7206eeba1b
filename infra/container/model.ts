import { countSequence, createNgrams, followersOf, LONGEST_CONTEXT, type Ngrams } from './ngrams.ts';
import type { ContainerTokenizer } from './tokenizer.ts';
import { indexTopics, nearestParagraphs, rarity } from './topics.ts';

/** How much is copied from the prompt: its last tokens, and the corpus paragraphs nearest to them. */
const COPIED_PROMPT_TOKENS = 512;
const QUERY_TOKENS = 128;
const NEAREST_PARAGRAPHS = 4;

/** A context seen n times is trusted n / (n + doubt); the shorter context first. */
const CORPUS_DOUBT = [0.5, 0.1];
const CACHE_DOUBT = [9, 0.7];
const PROMPT_WORD_BOOST = 1;

/** Greedy n-gram text runs in circles; each repeat of a trigram within this many tokens makes it less likely. */
const REPETITION_WINDOW_TOKENS = 1_024;
const REPETITION_PENALTY = 2.5;

/** Low enough that nothing but a logit bias ever brings the token up. */
const NEVER_LOGIT = -50;
const UNSEEN_COUNT = 0.001;

/** What one prompt changes in the model: followers to copy, and the weight of each of its tokens. */
export interface PromptCache {
  readonly tail: readonly number[];
  readonly copied: Ngrams;
  readonly boosts: ReadonlyMap<number, number>;
}

export interface LanguageModel {
  vocabularySize: number;
  /** The token that ends an answer. */
  endOfTurn: number;
  /** A prompt's token ids in, what the model remembers of it out; made once a request. */
  readPrompt(prompt: readonly number[]): PromptCache;
  /**
   * The prompt and the answer's token ids so far in; a logit for each token of the vocabulary out, written into `into` if
   * given. Logits are natural logarithms of probabilities, but for a constant. Depends on nothing but its arguments.
   */
  nextLogits(prompt: PromptCache, answer: readonly number[], into?: Float32Array): Float32Array;
}

/**
 * An interpolated trigram over tokens, mixed with a cache of the prompt (Kuhn and De Mori, 1990).
 * Paragraphs of plain text in, the model out: each paragraph is learned as one answer of the assistant.
 */
export const createModel = (paragraphs: readonly string[], tokenizer: ContainerTokenizer): LanguageModel => {
  const { vocabularySize, specials, encodeText } = tokenizer;
  const { startOfTurn, endOfTurn, endOfText } = specials;
  const opening = [startOfTurn, ...encodeText('assistant\n')];
  const bodies = paragraphs.map(encodeText);
  const turns = bodies.map((body) => [...opening, ...body, endOfTurn]);
  const topics = indexTopics(bodies);
  const corpus = createNgrams(vocabularySize);
  for (const turn of turns) countSequence(corpus, turn);
  const base = unigramLogits(
    turns.map((turn) => turn.slice(opening.length)),
    vocabularySize,
  );
  for (const id of [startOfTurn, endOfText]) base[id] = NEVER_LOGIT;

  const readPrompt = (prompt: readonly number[]): PromptCache => {
    const words = wordsOf(prompt, startOfTurn, opening.at(-1)).filter((id) => id !== endOfTurn);
    const query = words.slice(-QUERY_TOKENS);
    const copied = createNgrams(vocabularySize);
    countSequence(copied, words.slice(-COPIED_PROMPT_TOKENS));
    for (const at of nearestParagraphs(topics, query, NEAREST_PARAGRAPHS)) countSequence(copied, turns[at] ?? []);
    const boosts = new Map(query.map((id) => [id, 1 + PROMPT_WORD_BOOST * rarity(topics, id)]));
    return { tail: prompt.slice(-LONGEST_CONTEXT), copied, boosts };
  };

  // Scratch space: all zero between calls, so a call stays a function of its arguments.
  const added = new Float64Array(vocabularySize);

  const nextLogits = (prompt: PromptCache, answer: readonly number[], into = new Float32Array(vocabularySize)): Float32Array => {
    const context = answer.length < LONGEST_CONTEXT ? [...prompt.tail, ...answer] : answer.slice(-LONGEST_CONTEXT);
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

/** Leaves out what opens each turn: its start token, the role and the newline. */
const wordsOf = (prompt: readonly number[], startOfTurn: number, newline: number | undefined): number[] => {
  let inOpening = false;
  return prompt.filter((id) => {
    if (id === startOfTurn) inOpening = true;
    if (!inOpening) return true;
    inOpening = id !== newline;
    return false;
  });
};

/** What followed the last two tokens earlier in the answer, once for each time. */
const repeatedFollowers = (answer: readonly number[]): number[] => {
  const found: number[] = [];
  const last = answer.at(-1);
  const previous = answer.at(-2);
  for (let i = Math.max(2, answer.length - REPETITION_WINDOW_TOKENS); i < answer.length; i++) {
    if (answer[i - 1] === last && answer[i - 2] === previous) found.push(answer[i] ?? 0);
  }
  return found;
};
