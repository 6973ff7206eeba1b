import { type FieldNames, InvalidRequest, nameOf, withNames } from '../../../shared/http/errors.ts';
import type { Model, TokenizerFiles } from '../../../shared/models/model.ts';
import type { Prompt } from '../../../shared/tokens/prompt.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { ContextLengthExceeded, type ExceededFacts } from './context-length-exceeded.ts';
import { isChatPrompt } from './prompt-size.ts';

/** The request's use of the model's context window. */
export interface WindowRequest {
  /** The caller's limit for the answer; undefined if there is none. */
  requestedTokens: number | undefined;
  /** `truncate` lowers max_tokens to what is left; `error` rejects the request instead. */
  whenExceeded: 'truncate' | 'error';
  /** The caller's `prompt_truncate_len`: older messages are evicted until the prompt is no longer than this. */
  maxPromptTokens: number | undefined;
  /** The route's names of these fields, where they differ from a chat completion's. */
  names?: FieldNames;
  /** The route's error for a request that doesn't fit. */
  exceeded?: (facts: ExceededFacts) => ContextLengthExceeded;
}

interface ToFit<P extends Prompt> {
  prompt: P;
  // No text of the prompt has more tokens than this (see `measurePrompt`).
  longestTokens: number;
  // The limit for the answer, within the model's own.
  maxTokens: number;
  window: WindowRequest;
}

/** A prompt that fits the window, and the tokens left for the answer. */
export interface Fitted<P extends Prompt = Prompt> {
  prompt: P;
  maxTokens: number;
  /** Exact; absent if the prompt was not counted. */
  promptTokens?: number;
}

type Counter = Pick<Tokenizer, 'fit' | 'count'>;

// The special tokens that a tokenizer adds to a text, if its reply doesn't say. Most add one or none.
const SPECIAL_TOKENS = 1;

// `kept`: the indexes of the messages of a conversation that stay.
interface Counted {
  promptTokens: number;
  longestTokens: number;
  kept: number[] | null;
}

// Undefined for a conversation that the chat template can't render here.
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

const withFieldNames =
  (names: FieldNames | undefined) =>
  (error: unknown): never => {
    if (!(error instanceof InvalidRequest) || error.param === null) throw error;
    const { message, param, code } = error;
    throw new InvalidRequest({ message: withNames(message, names), param: nameOf(param, names), ...(code !== null && { code }) });
  };

/**
 * Fits a request into its model's window, without the tokenizer if the prompt's bytes prove that everything fits.
 * Without a tokenizer, or if its chat template fails, the runtime itself rejects prompts that are too long.
 * @throws ContextLengthExceeded if the request can't be made to fit, or the caller wants an error
 */
export const fitWindow = async <P extends Prompt>(
  tokenizer: Counter,
  model: Model,
  { prompt, longestTokens: longestTokensBound, maxTokens, window }: ToFit<P>,
): Promise<Fitted<P>> => {
  const { requestedTokens, whenExceeded, maxPromptTokens, names } = window;
  const toError = window.exceeded ?? ((facts: ExceededFacts) => new ContextLengthExceeded(facts));
  // With `error`, only the caller's own max_tokens can exceed the window, not the model's default.
  const needed = whenExceeded === 'error' ? (requestedTokens ?? 1) : maxTokens;
  const { tokenizer: files, context_length: windowTokens } = model;
  if (whenExceeded === 'error' && needed >= windowTokens) throw toError({ maxTokens: needed, windowTokens, names });
  const isShort = maxPromptTokens === undefined || longestTokensBound <= maxPromptTokens;
  if (!files || (isShort && longestTokensBound + Math.max(needed, maxTokens) <= windowTokens)) return { prompt, maxTokens };

  const counted = await countPrompt(tokenizer, files, prompt, isShort ? null : maxPromptTokens).catch(withFieldNames(names));
  if (!counted) return { prompt, maxTokens };
  const { promptTokens, longestTokens, kept } = counted;
  const exceeded = (maxPrompt?: number): ContextLengthExceeded =>
    toError({ promptTokens: longestTokens, maxTokens: needed, windowTokens, maxPromptTokens: maxPrompt, names });
  if (!isShort && promptTokens > maxPromptTokens) throw exceeded(maxPromptTokens);
  const room = windowTokens - longestTokens;
  if (room < Math.min(1, maxTokens) || (whenExceeded === 'error' && needed > room)) throw exceeded();
  const fitted = kept && isChatPrompt(prompt) ? { ...prompt, messages: kept.flatMap((index) => prompt.messages[index] ?? []) } : prompt;
  return { prompt: fitted, maxTokens: Math.min(maxTokens, room), promptTokens };
};
