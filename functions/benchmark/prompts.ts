import type { MixEntry } from '../../shared/deployments/benchmark.ts';

// Most tokenizers have a token for each of these words.
const WORDS =
  'the of and to in is was for on with as by at from are this that be or have an they which one were all their there when time day year way new more man world life hand part place case week point fact number group problem water room area story light month night word house side kind head home city game line end'.split(
    ' ',
  );

/** How many tokens a runtime counts for a prompt of so many words, with its chat template. */
export interface WordCount {
  base: number;
  perWord: number;
}

export const ONE_TOKEN_PER_WORD: WordCount = { base: 0, perWord: 1 };

/** Random words, so that no prompt begins as another one does and a runtime has none of it in its prompt cache. */
export const randomWords = (count: number, random: () => number): string =>
  Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');

/** The words of a prompt of about so many tokens. */
export const wordsFor = (tokens: number, { base, perWord }: WordCount): number => Math.max(1, Math.round((tokens - base) / perWord));

/** Two prompts and their tokens, counted by the runtime, tell how it counts. */
export interface CountedPrompt {
  words: number;
  tokens: number;
}

/** How a runtime counts. Without plausible counts, a word is a token. */
export const wordCountOf = (short: CountedPrompt, long: CountedPrompt): WordCount => {
  const perWord = (long.tokens - short.tokens) / (long.words - short.words);
  const base = short.tokens - perWord * short.words;
  return perWord > 0 && base >= 0 ? { base, perWord } : ONE_TOKEN_PER_WORD;
};

/** Chooses the next kind of request by the weights of the mix. */
export const chooseFrom = (mix: readonly MixEntry[], random: () => number): MixEntry => {
  let left = random() * mix.reduce((sum, { weight }) => sum + weight, 0);
  for (const entry of mix) {
    left -= entry.weight;
    if (left < 0) return entry;
  }
  return mix.at(-1) as MixEntry;
};
