import type { ChatMessage, ContainerTokenizer, ToolCall } from '../model/tokenizer.ts';
import { BadRequest } from '../requests/errors.ts';
import type { ChatRequest, ChatRequestMessage, Tool } from './request.ts';

/** Returns the text of a message, with its parts joined by newlines as in vLLM. */
export const textOf = ({ content }: ChatRequestMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n');

interface Conversation extends Pick<ChatRequest, 'messages' | 'tools' | 'chat_template_kwargs'> {
  add_generation_prompt?: boolean | undefined;
}

/**
 * Returns the prompt tokens. Throws `BadRequest` for invalid JSON in tool arguments, or if the chat template raises
 * an error.
 */
export const encodeConversation = (body: Conversation, tokenizer: ContainerTokenizer): number[] => {
  const conversation = body.messages.map(toChatMessage);
  const { tools, chat_template_kwargs: variables, add_generation_prompt: addGenerationPrompt } = body;
  try {
    return tokenizer.encodeChat(conversation, {
      tools: tools?.map(toTemplateTool),
      variables: variables ?? undefined,
      addGenerationPrompt,
    });
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

// vLLM's model of a tool has null for keys that the tool leaves out.
const toTemplateTool = ({ function: { name, description = null, parameters = null, strict } }: Tool): object => ({
  type: 'function',
  function: { name, description, parameters, ...(strict != null && { strict }) },
});

// Templates print the arguments with `tojson`, so they are parsed.
const toTemplateCall = ({ id, function: { name, arguments: text } }: NonNullable<ChatRequestMessage['tool_calls']>[number]): ToolCall => {
  try {
    return { function: { name, arguments: text === '' ? {} : JSON.parse(text) } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : error;
    throw new BadRequest(`The arguments of the tool call '${id}' are not valid JSON: ${problem}`);
  }
};

/** Returns the text to echo: the whole prompt or its last tokens. */
export const echoOf = ({ echo, echo_last: last }: ChatRequest, prompt: readonly number[], tokenizer: ContainerTokenizer): string => {
  if (echo) return tokenizer.decode(prompt);
  return last ? tokenizer.decode(prompt.slice(-last)) : '';
};
