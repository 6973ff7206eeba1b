import { BadRequest } from '../errors.ts';
import { check } from '../requests/ranges.ts';
import type { ChatMessage, ContainerTokenizer, ToolCall } from '../tokenizer.ts';
import type { ChatRequest, ChatRequestMessage } from './request.ts';

/** The text of a message; parts are joined by newlines, as vLLM does. */
export const textOf = ({ content }: ChatRequestMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n');

/** What a chat template renders. */
interface Conversation extends Pick<ChatRequest, 'messages' | 'tools' | 'chat_template_kwargs'> {
  add_generation_prompt?: boolean | undefined;
}

/** A body in, the tokens of its prompt out. Throws `BadRequest` for tool arguments that are not JSON, and for what the chat template raises. */
export const encodeConversation = (body: Conversation, tokenizer: ContainerTokenizer): number[] => {
  const conversation = body.messages.map(toChatMessage);
  const { tools, chat_template_kwargs: variables, add_generation_prompt: addGenerationPrompt } = body;
  try {
    return tokenizer.encodeChat(conversation, { tools: tools ?? undefined, variables: variables ?? undefined, addGenerationPrompt });
  } catch (error) {
    throw new BadRequest(error instanceof Error ? error.message : String(error));
  }
};

const toChatMessage = (message: ChatRequestMessage): ChatMessage => ({
  role: message.role,
  content: textOf(message),
  reasoning: message.reasoning ?? message.reasoning_content,
  tool_calls: message.tool_calls?.map(toTemplateCall),
});

/** Templates print arguments with `tojson`, so they get the value and not its text. */
const toTemplateCall = ({ id, function: { name, arguments: text } }: NonNullable<ChatRequestMessage['tool_calls']>[number]): ToolCall => {
  try {
    return { function: { name, arguments: text === '' ? {} : JSON.parse(text) } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : error;
    throw new BadRequest(`The arguments of the tool call '${id}' are not JSON: ${problem}`);
  }
};

/** The text that the caller wants before the answer: the prompt's, or that of its last tokens. Throws `BadRequest` for a number below zero. */
export const echoOf = ({ echo, echo_last: last }: ChatRequest, prompt: readonly number[], tokenizer: ContainerTokenizer): string => {
  check((last ?? 0) >= 0, `echo_last must be non-negative, got ${last}.`);
  if (echo) return tokenizer.decode(prompt);
  return last ? tokenizer.decode(prompt.slice(-last)) : '';
};
