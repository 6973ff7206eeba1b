import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { BadRequest } from '../requests/errors.ts';

// As BERT's tokenizers do, one token before a text and one after it, or after each text of a pair.
const TEXT_SPECIAL_TOKENS = 2;
const PAIR_SPECIAL_TOKENS = 3;

/** How the tokens of an input are counted and cut. */
export interface EncoderOptions {
  tokenizer: ContainerTokenizer;
  /** The most tokens of one input, or of one pair. */
  windowTokens: number;
  /** Cuts longer inputs to so many tokens, special tokens included; -1: to the window. Absent: they are rejected. */
  truncateTo?: number | null | undefined;
  addsSpecialTokens?: boolean | undefined;
}

/** A text as a model reads it. */
export interface EncodedText {
  text: string;
  tokenCount: number;
}

const toEncoded = (
  tokens: readonly number[],
  specialTokens: number,
  { tokenizer, windowTokens, truncateTo }: EncoderOptions,
  text: string,
) => {
  const tokenCount = tokens.length + specialTokens;
  const limit = truncateTo === null || truncateTo === undefined || truncateTo === -1 ? windowTokens : Math.min(truncateTo, windowTokens);
  if (tokenCount <= limit) return { text, tokenCount };
  if (truncateTo === null || truncateTo === undefined) throw tooLong(windowTokens, tokenCount);
  return { text: tokenizer.decode(tokens.slice(0, Math.max(0, limit - specialTokens)), true), tokenCount: limit };
};

const tooLong = (windowTokens: number, tokenCount: number): BadRequest =>
  new BadRequest(
    `This model's maximum context length is ${windowTokens} tokens. However, your prompt contains ${tokenCount} input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt.`,
    'input_tokens',
  );

/**
 * Encodes a text or token ids, to which no special tokens are added.
 * @throws BadRequest with vLLM's message for an input over the window, without tokens, or with an unknown token id
 */
export const encodeInput = (input: string | readonly number[], options: EncoderOptions): EncodedText => {
  const { tokenizer, addsSpecialTokens = true } = options;
  const isText = typeof input === 'string';
  const tokens = isText ? tokenizer.encodePrompt(input) : input;
  const specialTokens = isText && addsSpecialTokens ? TEXT_SPECIAL_TOKENS : 0;
  if (tokens.length + specialTokens === 0) throw new BadRequest('The decoder prompt cannot be empty');
  const unknown = isText ? undefined : tokens.find((id) => id < 0 || id >= tokenizer.vocabularySize);
  if (unknown !== undefined) throw new BadRequest(`Token id ${unknown} is out of vocabulary`);
  return toEncoded(tokens, specialTokens, options, isText ? input : tokenizer.decode(tokens, true));
};

/**
 * Encodes the document of a pair. The token count is that of the pair, so the query counts once for each document.
 * @throws BadRequest if the pair is over the window
 */
export const encodePair = (query: string, document: string, options: EncoderOptions): EncodedText => {
  const { tokenizer } = options;
  const specialTokens = PAIR_SPECIAL_TOKENS + tokenizer.encodePrompt(query).length;
  return toEncoded(tokenizer.encodePrompt(document), specialTokens, options, document);
};
