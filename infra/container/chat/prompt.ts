import { BadRequest } from '../errors.ts';
import type { ChatMessage, ContainerTokenizer, ToolCall } from '../tokenizer.ts';
import type { ChatRequest, ChatRequestMessage } from './request.ts';

/** The text of a message; parts are joined by newlines, as vLLM does. */
export const textOf = ({ content }: ChatRequestMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n');

/** A body in, the tokens of its prompt out. Throws `BadRequest` for tool arguments that are not JSON, and for what the chat template raises. */
export function encodePrompt({ messages, tools, chat_template_kwargs: variables }: ChatRequest, tokenizer: ContainerTokenizer): number[] {
  const conversation = messages.map(toChatMessage);
  try {
    return tokenizer.encodeChat(conversation, { tools: tools ?? undefined, variables: variables ?? undefined });
  } catch (error) {
    throw new BadRequest(error instanceof Error ? error.message : String(error));
  }
}

const toChatMessage = (message: ChatRequestMessage): ChatMessage => ({
  role: message.role,
  content: textOf(message),
  reasoning: message.reasoning ?? message.reasoning_content,
  tool_calls: message.tool_calls?.map(toTemplateCall),
});

/** Templates print arguments with `tojson`, so they get the value and not its text. */
function toTemplateCall({ id, function: { name, arguments: text } }: NonNullable<ChatRequestMessage['tool_calls']>[number]): ToolCall {
  try {
    return { function: { name, arguments: text === '' ? {} : JSON.parse(text) } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : error;
    throw new BadRequest(`The arguments of the tool call '${id}' are not JSON: ${problem}`);
  }
}

/** How many tokens may be made; throws `BadRequest` for a prompt and `max_tokens` that do not fit the window together. */
export function fitWindow(promptTokens: number, maxTokens: number | null | undefined, windowTokens: number): number {
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
}

/** The text that the caller wants before the answer: the prompt's, or that of its last tokens. */
export function echoOf({ echo, echo_last: last }: ChatRequest, prompt: readonly number[], tokenizer: ContainerTokenizer): string {
  if (echo) return tokenizer.decode(prompt);
  return last ? tokenizer.decode(prompt.slice(-last)) : '';
}
