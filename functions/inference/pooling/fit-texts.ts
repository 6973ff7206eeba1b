import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { Model, TokenizerFiles } from '../../../shared/models/model.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { RefusedByModel } from '../../../shared/upstream/errors.ts';
import { maxTextTokens } from '../pipeline/prompt-size.ts';

const TOO_LONG = 'context_length_exceeded';

// The most texts of one call of the tokenizer.
const MAX_COUNTED_TEXTS = 1_024;
// The special tokens that a tokenizer adds to a text, if its reply doesn't say. Most add one or none.
const SPECIAL_TOKENS = 1;
// Two texts that the model reads together have a separator more.
const SEPARATOR_TOKENS = 1;

type Counter = Pick<Tokenizer, 'count'>;

/** A text of the request is longer than the model's context window: 400. */
export class TextTooLong extends InvalidRequest {
  constructor(name: string, tokens: number, windowTokens: number) {
    super({
      code: TOO_LONG,
      param: name,
      message: `This model's maximum context length is ${windowTokens} tokens, but '${name}' has ${tokens} tokens. Shorten or split it.`,
    });
  }
}

/** The runtime says only that a text of a call is too long: 400, with the names of the call's first and last text. */
export class TextOfCallTooLong extends InvalidRequest {
  constructor(first: string, last: string, windowTokens: number) {
    const where = first === last ? `'${first}' is` : `A text between '${first}' and '${last}' is`;
    super({
      code: TOO_LONG,
      param: first.replace(/\[.*/, ''),
      message: `${where} longer than the model's context length of ${windowTokens} tokens. Shorten or split it.`,
    });
  }
}

/** True for a runtime's rejection of a text that is too long. */
export const isTextTooLong = (error: unknown): boolean => error instanceof RefusedByModel && error.code === TOO_LONG;

// With the special tokens around each.
const countTexts = async (tokenizer: Counter, files: TokenizerFiles, texts: readonly string[]): Promise<number[]> => {
  const counts: number[] = [];
  for (let from = 0; from < texts.length; from += MAX_COUNTED_TEXTS) {
    const part = texts.slice(from, from + MAX_COUNTED_TEXTS);
    const { text_tokens, special_tokens = SPECIAL_TOKENS } = await tokenizer.count({ files, prompt: null, texts: part });
    for (const tokens of text_tokens) counts.push(tokens + special_tokens);
  }
  return counts;
};

const pairedTokens = async (tokenizer: Counter, files: TokenizerFiles, { pairedWith }: TextPrompt): Promise<number> => {
  if (pairedWith === undefined) return 0;
  const [tokens = 0] = await countTexts(tokenizer, files, [pairedWith]);
  return tokens + SEPARATOR_TOKENS;
};

/**
 * Counts the tokens of a prompt's texts, each with what it is paired with.
 * @param indexes of the texts to count; text given as token ids counts as it is
 */
export const countPromptTexts = async (
  tokenizer: Counter,
  files: TokenizerFiles,
  prompt: TextPrompt,
  indexes: readonly number[],
): Promise<number[]> => {
  const paired = await pairedTokens(tokenizer, files, prompt);
  const texts = indexes.map((index) => prompt.texts[index] ?? '');
  const counted = await countTexts(
    tokenizer,
    files,
    texts.filter((text) => typeof text === 'string'),
  );
  let next = 0;
  return texts.map((text) => paired + (typeof text === 'string' ? (counted[next++] ?? 0) : text.length));
};

/**
 * Checks that each text fits the model's context window. Only texts that are too long by their bytes are counted;
 * without a tokenizer the runtime itself rejects them.
 * @param nameOf names a text of the request
 * @throws TextTooLong
 */
export const fitTexts = async (
  tokenizer: Counter,
  { tokenizer: files, context_length: windowTokens }: Pick<Model, 'tokenizer' | 'context_length'>,
  prompt: TextPrompt,
  nameOf: (index: number) => string,
): Promise<void> => {
  const pairedBytes = Buffer.byteLength(prompt.pairedWith ?? '');
  const long = prompt.texts.flatMap((text, index) => (maxTextTokens(text, pairedBytes) > windowTokens ? [index] : []));
  if (!files || long.length === 0) return;
  const counts = await countPromptTexts(tokenizer, files, prompt, long);
  counts.forEach((tokens, place) => {
    if (tokens > windowTokens) throw new TextTooLong(nameOf(long[place] as number), tokens, windowTokens);
  });
};
