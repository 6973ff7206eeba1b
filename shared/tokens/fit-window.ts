import { InvalidRequest } from '../http/errors.ts';
import type { Model, TokenizerFiles } from '../models/model.ts';
import { isChatPrompt, type Prompt } from './prompt.ts';
import { promptTokenBound } from './prompt-bytes.ts';
import type { Tokenizer } from './tokenizer.ts';

/** What a request asks of the model's window. */
export interface WindowRequest {
  /** The most tokens that the caller asks for, if it says. */
  maxTokens: number | undefined;
  /** `truncate` lowers max_tokens to what is left; `error` refuses instead. */
  whenExceeded: 'truncate' | 'error';
  /** The caller's `prompt_truncate_len`: older messages go until the prompt is no longer than this. */
  maxPromptTokens: number | undefined;
}

/** A prompt that has its place in the window, and the tokens that are left for the answer, as far as they were asked for. */
export interface Fitted<P extends Prompt = Prompt> {
  prompt: P;
  maxTokens: number;
  /** Exact where the prompt was counted. */
  promptTokens?: number;
}

/** Prompt and answer do not fit the window, or the prompt not its own bound. */
export class ContextLengthExceeded extends InvalidRequest {
  /** @param facts `promptTokens` is absent where the answer alone asks for more than the window */
  constructor(facts: { promptTokens?: number; maxTokens: number; windowTokens: number; maxPromptTokens?: number | undefined }) {
    const { promptTokens, maxTokens, windowTokens, maxPromptTokens } = facts;
    const inMessages = promptTokens === undefined ? '' : `${promptTokens} tokens in the messages, `;
    const sizes = `${inMessages}${maxTokens} tokens in the completion; the model's context length is ${windowTokens}`;
    const remedy =
      promptTokens === undefined
        ? 'Lower max_tokens'
        : promptTokens < windowTokens
          ? 'Shorten the messages or lower max_tokens'
          : 'Shorten the messages';
    const message =
      maxPromptTokens === undefined
        ? `This request does not fit the model: ${sizes}. ${remedy}.`
        : `prompt_truncate_len is ${maxPromptTokens}, but what is never evicted (system messages, tools, the last user message, the newest message) is longer: ${sizes}. Shorten it or raise prompt_truncate_len.`;
    super({ code: 'context_length_exceeded', param: maxPromptTokens === undefined ? 'messages' : 'prompt_truncate_len', message });
  }
}

/** The most tokens that an answer may have, before the prompt is known: the caller's word or the model's default, within the model's own bound. */
export const wantedTokens = (maxTokens: number | undefined, model: Pick<Model, 'default_output_tokens' | 'max_output_tokens'>): number =>
  Math.min(maxTokens ?? model.default_output_tokens, model.max_output_tokens);

type Counter = Pick<Tokenizer, 'fit' | 'count'>;

/** What was counted of a prompt: all of it, the longest of its texts, and which messages of a conversation stay. */
interface Counted {
  promptTokens: number;
  longestTokens: number;
  kept: number[] | null;
}

const countPrompt = async (tokenizer: Counter, files: TokenizerFiles, prompt: Prompt, maxPromptTokens: number | null): Promise<Counted> => {
  if (isChatPrompt(prompt)) {
    const { prompt_tokens, kept } = await tokenizer.fit({ files, prompt, max_prompt_tokens: maxPromptTokens });
    return { promptTokens: prompt_tokens, longestTokens: prompt_tokens, kept };
  }
  const texts = prompt.texts.filter((text) => typeof text === 'string');
  const { text_tokens } = await tokenizer.count({ files, prompt: null, texts });
  // What a tokenizer puts before a text of its own accord is one token.
  const lengths = [
    ...text_tokens.map((tokens) => tokens + 1),
    ...prompt.texts.flatMap((text) => (typeof text === 'string' ? [] : [text.length])),
  ];
  return { promptTokens: lengths.reduce((sum, tokens) => sum + tokens, 0), longestTokens: Math.max(0, ...lengths), kept: null };
};

/**
 * Makes a request fit its model's window. The tokenizer is asked only where the prompt's bytes do not already prove that everything fits;
 * a model without one is left to refuse what is too long itself.
 * @throws ContextLengthExceeded when it cannot be made to fit, or must not be
 */
export const fitWindow = async <P extends Prompt>(
  tokenizer: Counter,
  model: Model,
  prompt: P,
  request: WindowRequest,
): Promise<Fitted<P>> => {
  const wanted = wantedTokens(request.maxTokens, model);
  // Who wants an error wants it for what was asked, not for what the model would have made of it; our own default is no wish.
  const held = request.whenExceeded === 'error' ? (request.maxTokens ?? 1) : wanted;
  const { maxPromptTokens } = request;
  const { tokenizer: files, context_length: windowTokens } = model;
  if (request.whenExceeded === 'error' && held >= windowTokens) throw new ContextLengthExceeded({ maxTokens: held, windowTokens });
  const bound = promptTokenBound(prompt);
  const isShort = maxPromptTokens === undefined || bound <= maxPromptTokens;
  if (!files || (isShort && bound + Math.max(held, wanted) <= windowTokens)) return { prompt, maxTokens: wanted };

  const { promptTokens, longestTokens, kept } = await countPrompt(tokenizer, files, prompt, isShort ? null : maxPromptTokens);
  const exceeded = (facts: { maxTokens: number; maxPromptTokens?: number | undefined }): ContextLengthExceeded =>
    new ContextLengthExceeded({ promptTokens: longestTokens, windowTokens, ...facts });
  if (!isShort && promptTokens > maxPromptTokens) throw exceeded({ maxTokens: held, maxPromptTokens });
  const room = windowTokens - longestTokens;
  if (room < 1 || (request.whenExceeded === 'error' && held > room)) throw exceeded({ maxTokens: held });
  const fitted = kept && isChatPrompt(prompt) ? { ...prompt, messages: kept.flatMap((index) => prompt.messages[index] ?? []) } : prompt;
  return { prompt: fitted, maxTokens: Math.min(wanted, room), promptTokens };
};
