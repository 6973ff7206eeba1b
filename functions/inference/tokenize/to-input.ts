import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import { toChatPrompt } from '../chat/to-prompt.ts';
import { measurePrompt } from '../pipeline/prompt-size.ts';
import { estimateTokens } from '../pipeline/token-estimate.ts';
import type { TokenizeRequest } from './schema.ts';

/** The tokenizer's input: the text as it is, or the messages as a chat completion sends them to the model. */
export const toInput = ({ model: name, prompt, messages, tools }: TokenizeRequest, model: Model): string | ChatPrompt =>
  prompt ?? toChatPrompt({ model: name, messages: messages ?? [], tools }, model);

/** Estimates the tokens to reserve for an input. */
export const estimateInput = (input: string | ChatPrompt): number =>
  estimateTokens(typeof input === 'string' ? Buffer.byteLength(input) : measurePrompt(input).bytes);
