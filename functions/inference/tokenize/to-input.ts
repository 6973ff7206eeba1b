import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import { toChatPrompt } from '../chat/to-prompt.ts';
import { measurePrompt } from '../pipeline/prompt-size.ts';
import { estimateTokens } from '../pipeline/token-estimate.ts';
import type { TokenizeRequest } from './schema.ts';

/** What is tokenized: a text as it is, or messages as a chat completion would give them to the model. */
export const toInput = ({ model: name, prompt, messages, tools }: TokenizeRequest, model: Model): string | ChatPrompt =>
  prompt ?? toChatPrompt({ model: name, messages: messages ?? [], tools }, model);

/** The tokens that it reserves while it is tokenized: an estimate. */
export const estimateInput = (input: string | ChatPrompt): number =>
  estimateTokens(typeof input === 'string' ? Buffer.byteLength(input) : measurePrompt(input).bytes);
