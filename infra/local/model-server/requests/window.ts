import { BadRequest } from './errors.ts';

/**
 * Returns the most tokens for the answer. Throws `BadRequest` if the prompt and `max_tokens` exceed the window
 * together.
 */
export const fitWindow = (promptTokens: number, maxTokens: number | null | undefined, windowTokens: number): number => {
  const window = `This model's maximum context length is ${windowTokens} tokens. However,`;
  const requested = promptTokens + (maxTokens ?? 0);
  if (promptTokens >= windowTokens) {
    throw new BadRequest(`${window} your request has ${promptTokens} input tokens. Please reduce the length of the input messages.`);
  }
  if (requested > windowTokens) {
    const parts = `${promptTokens} in the messages, ${maxTokens} in the completion`;
    throw new BadRequest(`${window} you requested ${requested} tokens (${parts}). Please reduce the length of the messages or completion.`);
  }
  return maxTokens ?? windowTokens - promptTokens;
};
