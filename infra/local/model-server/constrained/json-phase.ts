import type { Phase } from '../generation/phase.ts';
import type { TokenSpelling } from '../model/tokenizer.ts';
import { bytesToClose, isInScalar, isJsonComplete, JSON_START, nextJsonState } from './json-acceptor.ts';
import { type TrieNode, visitTokens } from './token-trie.ts';

// Beyond these lengths, a string or number, or the whole object, must close: the model would never end it by itself.
const MOST_SCALAR_TOKENS = 8;
const MOST_OPEN_TOKENS = 64;

/**
 * Constrains the rest of an answer to one JSON object and the end of the turn. Every byte is also a token, so the
 * object can always close in time, given two tokens: the phase forbids a token if the object then needs more bytes to
 * close than there are tokens left.
 */
export const jsonPhase = (trie: TrieNode, spelling: TokenSpelling, endOfTurn: number): Phase => {
  let state = JSON_START;
  let tokens = 0;
  let scalarTokens = 0;
  return {
    channel: { kind: 'content' },
    mask(logits, left) {
      const toClose = bytesToClose(state);
      const mustClose = tokens >= MOST_OPEN_TOKENS || scalarTokens >= MOST_SCALAR_TOKENS;
      // Keeps a token for the end of the turn if possible.
      const most = Math.max(left - 2, toClose - 1);
      const bound = mustClose ? Math.min(most, toClose - 1) : most;
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
