import type { Phase } from '../generation/phase.ts';
import type { TokenSpelling } from '../tokenizer.ts';
import { bytesToClose, isInScalar, isJsonComplete, JSON_START, nextJsonState } from './json-acceptor.ts';
import { type TrieNode, visitTokens } from './token-trie.ts';

/** After so many tokens in one string or number, or in all, only those come that bring the end nearer: our model never tires by itself. */
const PATIENCE_SCALAR_TOKENS = 8;
const PATIENCE_TOKENS = 64;

/**
 * One JSON object and then the end of the turn, for the rest of an answer. It closes in time: every byte is a token of its own,
 * so no token may come that leaves more bytes to close than tokens. Fewer than two tokens for it are not enough for any object.
 */
export const jsonPhase = (trie: TrieNode, spelling: TokenSpelling, endOfTurn: number): Phase => {
  let state = JSON_START;
  let tokens = 0;
  let scalarTokens = 0;
  return {
    channel: { kind: 'content' },
    mask(logits, left) {
      const toCome = bytesToClose(state);
      const tired = tokens >= PATIENCE_TOKENS || scalarTokens >= PATIENCE_SCALAR_TOKENS;
      // The token that ends the turn needs a place too, where there is one.
      const most = Math.max(left - 2, toCome - 1);
      const bound = tired ? Math.min(most, toCome - 1) : most;
      const allowed = new Float32Array(logits.length).fill(-Infinity);
      const allow = (token: number) => {
        allowed[token] = logits[token] ?? 0;
      };
      if (isJsonComplete(state)) allow(endOfTurn);
      visitTokens(trie, state, nextJsonState, (token, after) => {
        if (bytesToClose(after) <= bound) allow(token);
      });
      logits.set(allowed);
    },
    accept(token) {
      tokens += 1;
      for (const byte of spelling(token)) state = nextJsonState(state, byte) ?? state;
      scalarTokens = isInScalar(state) ? scalarTokens + 1 : 0;
      return false;
    },
  };
};
