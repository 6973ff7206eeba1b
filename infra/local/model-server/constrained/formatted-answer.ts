import { type Channel, endingPhase, forcedPhase, type Phase } from '../generation/phase.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import type { ResponseFormat } from '../requests/fields.ts';
import { jsonPhase } from './json-phase.ts';
import { smallestInstance } from './smallest-instance.ts';
import { createTokenTrie, type TrieNode } from './token-trie.ts';

const CONTENT: Channel = { kind: 'content' };

/**
 * Returns a function that creates the phases of an answer in the format; null for plain text. Throws `SchemaRefused`.
 */
export const formattedAnswer = (format: ResponseFormat | null | undefined, tokenizer: ContainerTokenizer): (() => Phase[]) | null => {
  if (format?.type === 'json_object') {
    const trie = trieOf(tokenizer);
    return () => [jsonPhase(trie, tokenizer.tokenBytes, tokenizer.specials.endOfTurn)];
  }
  if (format?.type === 'json_schema') return forcedAnswer(JSON.stringify(smallestInstance(format.json_schema.schema)), tokenizer);
  return null;
};

/** Returns a function that creates the phases of an answer with exactly this text. */
export const forcedAnswer = (text: string, tokenizer: ContainerTokenizer): (() => Phase[]) => {
  const tokens = tokenizer.encodeText(text);
  return () => [forcedPhase(CONTENT, tokens), endingPhase(CONTENT, tokenizer.specials.endOfTurn)];
};

const tries = new WeakMap<ContainerTokenizer, TrieNode>();

const trieOf = (tokenizer: ContainerTokenizer): TrieNode => {
  const trie = tries.get(tokenizer) ?? createTokenTrie(tokenizer.vocabularySize, tokenizer.tokenBytes);
  tries.set(tokenizer, trie);
  return trie;
};
