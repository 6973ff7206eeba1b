import type { TokenSpelling } from '../tokenizer.ts';

/** Where the text of a token goes: a part of the message, one of its tool calls, or nowhere. */
export type Channel = { kind: 'content' | 'reasoning' | 'hidden' } | { kind: 'call'; call: number };

/** A stretch of an answer; an answer is some of them, one after the other. */
export interface Phase {
  readonly channel: Channel;
  /** Sets the logits of what may not come next to -Infinity; `left` tokens may still be made, this one included. */
  mask(logits: Float32Array, left: number): void;
  /** Takes the token that came; true if it was the last one of the phase. */
  accept(token: number): boolean;
}

/** Whatever the model says, for the rest of the answer. */
export const freePhase = (): Phase => ({ channel: { kind: 'content' }, mask: () => {}, accept: () => false });

/** These tokens and no others, at least one. */
export const forcedPhase = (channel: Channel, tokens: readonly number[]): Phase => {
  let at = 0;
  return {
    channel,
    mask: (logits) => allowOnly(logits, tokens[at]),
    accept() {
      at += 1;
      return at === tokens.length;
    },
  };
};

/** Nothing but the token that ends the turn, for the rest of the answer. */
export const endingPhase = (channel: Channel, endOfTurn: number): Phase => ({
  channel,
  mask: (logits) => allowOnly(logits, endOfTurn),
  accept: () => false,
});

/**
 * Thoughts of the model: at most `mostTokens`, and no more than the first sentence that ends in their second half. The token
 * that ends the turn does not come.
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
