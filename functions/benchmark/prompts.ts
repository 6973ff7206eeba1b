import type { MixEntry } from '../../shared/deployments/benchmark.ts';

// Most tokenizers have a token for each of these words.
const WORDS =
  'the of and to in is was for on with as by at from are this that be or have an they which one were all their there when time day year way new more man world life hand part place case week point fact number group problem water room area story light month night word house side kind head home city game line end'.split(
    ' ',
  );

/** Random words, so that no prompt begins as another one does and a runtime has none of it in its prompt cache. */
export const randomWords = (count: number, random: () => number): string =>
  Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');

/** A prompt that was sent, and its tokens as the runtime counted them. */
export interface CountedPrompt {
  words: number;
  tokens: number;
}

/**
 * Learns from the prompts that were sent how many tokens a runtime counts for a number of words, with its chat
 * template. Two prompts give only a rough estimate, because words differ in their number of tokens.
 */
export const createPromptLengths = () => {
  // The sums of a linear regression of tokens on words, over the prompts that were sent.
  let [count, words, tokens, squares, products] = [0, 0, 0, 0, 0];

  // Without prompts of different lengths, the mean number of tokens a word; without any prompt, one.
  const line = (): { base: number; perWord: number } => {
    const spread = count * squares - words * words;
    const perWord = spread > 0 ? (count * products - words * tokens) / spread : 0;
    const base = count > 0 ? (tokens - perWord * words) / count : 0;
    if (perWord > 0 && base >= 0) return { base, perWord };
    return { base: 0, perWord: tokens > 0 && words > 0 ? tokens / words : 1 };
  };

  return {
    note: (prompt: CountedPrompt): void => {
      // The runtime did not count this prompt.
      if (prompt.tokens === 0) return;
      count += 1;
      words += prompt.words;
      tokens += prompt.tokens;
      squares += prompt.words ** 2;
      products += prompt.words * prompt.tokens;
    },

    /** The words of a prompt of about so many tokens. */
    wordsFor: (wanted: number): number => {
      const { base, perWord } = line();
      return Math.max(1, Math.round((wanted - base) / perWord));
    },
  };
};
export type PromptLengths = ReturnType<typeof createPromptLengths>;

/** Chooses the next kind of request by the weights of the mix. */
export const chooseFrom = (mix: readonly MixEntry[], random: () => number): MixEntry => {
  let left = random() * mix.reduce((sum, { weight }) => sum + weight, 0);
  for (const entry of mix) {
    left -= entry.weight;
    if (left < 0) return entry;
  }
  return mix.at(-1) as MixEntry;
};
