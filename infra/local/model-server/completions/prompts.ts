import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { BadRequest } from '../requests/errors.ts';
import type { CompletionRequest } from './request.ts';

/** One prompt of a request: its tokens and its text for an echo. */
export interface Prompt {
  tokens: readonly number[];
  text: string;
}

/** Returns at least one prompt. Throws `BadRequest` with vLLM's message for an empty prompt or an unknown token id. */
export const readPrompts = ({ prompt }: CompletionRequest, tokenizer: ContainerTokenizer): Prompt[] => {
  const prompts = splitPrompts(prompt).map((one) => readPrompt(one, tokenizer));
  if (prompts.length === 0) throw new BadRequest('please provide at least one prompt');
  return prompts;
};

// An empty array has no prompts; it is not a prompt without tokens.
const splitPrompts = (prompt: CompletionRequest['prompt']): (string | number[])[] => {
  if (typeof prompt === 'string') return [prompt];
  const tokens: number[] = [];
  const prompts: (string | number[])[] = [];
  for (const item of prompt ?? []) {
    if (typeof item === 'number') tokens.push(item);
    else prompts.push(item);
  }
  return tokens.length > 0 ? [tokens] : prompts;
};

const readPrompt = (prompt: string | number[], tokenizer: ContainerTokenizer): Prompt => {
  const tokens = typeof prompt === 'string' ? tokenizer.encodePrompt(prompt) : prompt;
  if (tokens.length === 0) throw new BadRequest('The decoder prompt cannot be empty');
  const largest = tokens.reduce((most, id) => Math.max(most, id));
  if (largest >= tokenizer.vocabularySize) throw new BadRequest(`Token id ${largest} is out of vocabulary`);
  return { tokens, text: typeof prompt === 'string' ? prompt : tokenizer.decode(prompt, true) };
};
