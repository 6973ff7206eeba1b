/** How to choose the next token. All values are in range. */
export interface SamplingParameters {
  /** 0 always chooses the likeliest token. */
  temperature: number;
  /** Samples from this many of the likeliest tokens; 0 for all. */
  topK: number;
  /** Samples from the likeliest tokens that together have this probability; 1 for all. */
  topP: number;
  /** Removes tokens less likely than this fraction of the likeliest token's probability; 0 removes none. */
  minP: number;
  /** Samples from the tokens closest to the expected surprise that together have this probability; 1 for all. */
  typicalP: number;
  mirostat: { targetBits: number; learningRate: number } | null;
  repetitionPenalty: number;
  presencePenalty: number;
  frequencyPenalty: number;
  /** Added to the logits of token ids. */
  logitBias: ReadonlyMap<number, number>;
  /** The only token ids that can be chosen; null for all. */
  allowedTokens: ReadonlySet<number> | null;
  /** Token sequences that never appear. */
  badWords: readonly (readonly number[])[];
  /** The first `minTokens` tokens contain none of `endingTokens`. */
  minTokens: number;
  endingTokens: readonly number[];
}

/** Samples from the model's distribution unchanged. */
export const PLAIN_SAMPLING: SamplingParameters = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  typicalP: 1,
  mirostat: null,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: new Map(),
  allowedTokens: null,
  badWords: [],
  minTokens: 0,
  endingTokens: [],
};

// vLLM samples greedily below this temperature.
const GREEDY_BELOW = 1e-5;

export const isGreedy = (temperature: number): boolean => temperature < GREEDY_BELOW;
