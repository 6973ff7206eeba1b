/** How the next token is chosen, all values checked; each one that does nothing by default costs nothing then. */
export interface SamplingParameters {
  /** 0 always takes the likeliest token. */
  temperature: number;
  /** The most tokens to draw from; 0 is any number. */
  topK: number;
  /** Draws from the likeliest tokens that have this probability together; 1 is all. */
  topP: number;
  /** Leaves tokens out that are less likely than this share of the likeliest; 0 leaves none out. */
  minP: number;
  /** Draws from the tokens nearest to the expected surprise that have this probability together; 1 is all. */
  typicalP: number;
  mirostat: { targetBits: number; learningRate: number } | null;
  repetitionPenalty: number;
  presencePenalty: number;
  frequencyPenalty: number;
  /** Added to the logits of token ids. */
  logitBias: ReadonlyMap<number, number>;
  /** The only token ids that may come; null is all. */
  allowedTokens: ReadonlySet<number> | null;
  /** Token sequences that never come. */
  badWords: readonly (readonly number[])[];
  /** None of `endingTokens` comes among the first `minTokens`. */
  minTokens: number;
  endingTokens: readonly number[];
}

/** Draws from what the model says, and from nothing else. */
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

/** vLLM takes any temperature below this for greedy sampling. */
const GREEDY_BELOW = 1e-5;

export const isGreedy = (temperature: number): boolean => temperature < GREEDY_BELOW;
