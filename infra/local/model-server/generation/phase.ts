import type { TokenSpelling } from '../model/tokenizer.ts';

/** Where a token's text goes: into the content, the reasoning or a tool call of the message, or nowhere. */
export type Channel = { kind: 'content' | 'reasoning' | 'hidden' } | { kind: 'call'; call: number };

/** A part of an answer with its own constraint. An answer is a sequence of phases. */
export interface Phase {
  channel: Channel;
  /** Sets the logits of forbidden tokens to -Infinity. `left` is the number of tokens left, including this one. */
  mask(logits: Float32Array, left: number): void;
  /** Records the chosen token. Returns true if it ends the phase. */
  accept(token: number): boolean;
}

/** Leaves the rest of the answer unconstrained. */
export const freePhase = (): Phase => ({ channel: { kind: 'content' }, mask: () => {}, accept: () => false });

/** Forces these tokens, at least one. */
export const forcedPhase = (channel: Channel, tokens: readonly number[]): Phase => {
  let at = 0;
  return {
    channel,
    mask: (logits) => allowOnly(logits, tokens[at]),
    accept: () => ++at === tokens.length,
  };
};

/** Forces the end-of-turn token for the rest of the answer. */
export const endingPhase = (channel: Channel, endOfTurn: number): Phase => ({
  channel,
  mask: (logits) => allowOnly(logits, endOfTurn),
  accept: () => false,
});

/**
 * Reasoning of at most `mostTokens`; ends early at the first end of a sentence after half of them. Forbids the end of
 * the turn.
 */
export const reasoningPhase = (mostTokens: number, endOfTurn: number, spelling: TokenSpelling): Phase => {
  let tokens = 0;
  return {
    channel: { kind: 'reasoning' },
    mask(logits) {
      logits[endOfTurn] = -Infinity;
    },
    accept(token) {
      tokens += 1;
      return tokens >= mostTokens || (2 * tokens >= mostTokens && SENTENCE_ENDS.some((end) => spelling(token).at(-1) === end));
    },
  };
};

const SENTENCE_ENDS = Array.from('.!?', (character) => character.charCodeAt(0));

const allowOnly = (logits: Float32Array, token: number | undefined): void => {
  if (token === undefined) return;
  const logit = logits[token] ?? 0;
  logits.fill(-Infinity);
  logits[token] = logit;
};
