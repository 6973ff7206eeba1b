import { InvalidRequest } from '../../../shared/http/errors.ts';
import { type FieldNames, nameOf } from '../../../shared/http/field-names.ts';
import type { Model, TokenizerFiles } from '../../../shared/models/model.ts';
import { isChatPrompt, type Prompt } from '../../../shared/tokens/prompt.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { ContextLengthExceeded } from './context-length-exceeded.ts';

/** What a request asks of the model's window. */
export interface WindowRequest {
  /** The most tokens that the caller asks for, if it says. */
  maxTokens: number | undefined;
  /** `truncate` lowers max_tokens to what is left; `error` refuses instead. */
  whenExceeded: 'truncate' | 'error';
  /** The caller's `prompt_truncate_len`: older messages go until the prompt is no longer than this. */
  maxPromptTokens: number | undefined;
  /** What the route calls all this, where a chat completion calls it otherwise. */
  names?: FieldNames;
}

/** A prompt that has its place in the window, and the tokens that are left for the answer, as far as they were asked for. */
export interface Fitted<P extends Prompt = Prompt> {
  prompt: P;
  maxTokens: number;
  /** Exact where the prompt was counted. */
  promptTokens?: number;
}

/** The most tokens that an answer may have, before the prompt is known: the caller's word or the model's default, within the model's own bound. */
export const wantedTokens = (maxTokens: number | undefined, model: Pick<Model, 'default_output_tokens' | 'max_output_tokens'>): number =>
  Math.min(maxTokens ?? model.default_output_tokens, model.max_output_tokens);

type Counter = Pick<Tokenizer, 'fit' | 'count'>;

/** What a tokenizer puts around a text of its own accord, where it does not say: most put one token before it, or none. */
const SPECIAL_TOKENS = 1;

/** What was counted of a prompt: all of it, the longest of its texts, and which messages of a conversation stay. */
interface Counted {
  promptTokens: number;
  longestTokens: number;
  kept: number[] | null;
}

/** undefined for a conversation that cannot be rendered here. */
const countPrompt = async (
  tokenizer: Counter,
  files: TokenizerFiles,
  prompt: Prompt,
  maxPromptTokens: number | null,
): Promise<Counted | undefined> => {
  if (isChatPrompt(prompt)) {
    const { prompt_tokens, kept } = await tokenizer.fit({ files, prompt, max_prompt_tokens: maxPromptTokens });
    return prompt_tokens === null ? undefined : { promptTokens: prompt_tokens, longestTokens: prompt_tokens, kept };
  }
  const texts = prompt.texts.filter((text) => typeof text === 'string');
  const { text_tokens, special_tokens = SPECIAL_TOKENS } = await tokenizer.count({ files, prompt: null, texts });
  const lengths = [
    ...text_tokens.map((tokens) => tokens + special_tokens),
    ...prompt.texts.flatMap((text) => (typeof text === 'string' ? [] : [text.length])),
  ];
  return { promptTokens: lengths.reduce((sum, tokens) => sum + tokens, 0), longestTokens: Math.max(0, ...lengths), kept: null };
};

/** The same refusal in the words of the route. */
const inWordsOf =
  (names: FieldNames | undefined) =>
  (error: unknown): never => {
    if (!(error instanceof InvalidRequest) || error.param === null) throw error;
    const { message, param, code } = error;
    throw new InvalidRequest({ message, param: nameOf(param, names), ...(code !== null && { code }) });
  };

/**
 * Makes a request fit its model's window. The tokenizer is asked only where the prompt's bytes do not already prove that everything fits;
 * a model without one, or whose chat template breaks on the prompt, is left to refuse what is too long itself.
 * @param longestTokensBound what `measurePrompt` says of the prompt
 * @throws ContextLengthExceeded when it cannot be made to fit, or must not be
 */
export const fitWindow = async <P extends Prompt>(
  tokenizer: Counter,
  model: Model,
  prompt: P,
  longestTokensBound: number,
  request: WindowRequest,
): Promise<Fitted<P>> => {
  const wanted = wantedTokens(request.maxTokens, model);
  // Who wants an error wants it for what was asked, not for what the model would have made of it; our own default is no wish.
  const held = request.whenExceeded === 'error' ? (request.maxTokens ?? 1) : wanted;
  const { maxPromptTokens, names } = request;
  const { tokenizer: files, context_length: windowTokens } = model;
  if (request.whenExceeded === 'error' && held >= windowTokens) throw new ContextLengthExceeded({ maxTokens: held, windowTokens, names });
  const isShort = maxPromptTokens === undefined || longestTokensBound <= maxPromptTokens;
  if (!files || (isShort && longestTokensBound + Math.max(held, wanted) <= windowTokens)) return { prompt, maxTokens: wanted };

  const counted = await countPrompt(tokenizer, files, prompt, isShort ? null : maxPromptTokens).catch(inWordsOf(names));
  if (!counted) return { prompt, maxTokens: wanted };
  const { promptTokens, longestTokens, kept } = counted;
  const exceeded = (facts: { maxTokens: number; maxPromptTokens?: number | undefined }): ContextLengthExceeded =>
    new ContextLengthExceeded({ promptTokens: longestTokens, windowTokens, names, ...facts });
  if (!isShort && promptTokens > maxPromptTokens) throw exceeded({ maxTokens: held, maxPromptTokens });
  const room = windowTokens - longestTokens;
  if (room < Math.min(1, wanted) || (request.whenExceeded === 'error' && held > room)) throw exceeded({ maxTokens: held });
  const fitted = kept && isChatPrompt(prompt) ? { ...prompt, messages: kept.flatMap((index) => prompt.messages[index] ?? []) } : prompt;
  return { prompt: fitted, maxTokens: Math.min(wanted, room), promptTokens };
};
