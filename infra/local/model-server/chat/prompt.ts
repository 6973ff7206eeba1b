import type { ChatMessage, ContainerTokenizer, ToolCall } from '../model/tokenizer.ts';
import { BadRequest } from '../requests/errors.ts';
import type { ChatRequest, ChatRequestMessage, Tool } from './request.ts';

/** Returns the text of a message, with its parts joined by newlines as in vLLM. */
export const textOf = ({ content }: ChatRequestMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n');

type Conversation = Pick<ChatRequest, 'messages' | 'tools' | 'chat_template_kwargs' | 'add_generation_prompt' | 'continue_final_message'>;

/**
 * Returns the prompt tokens. Throws `BadRequest` for invalid JSON in tool arguments, if the chat template raises an
 * error, or if the prompt should both continue the last message and begin another one.
 */
export const encodeConversation = (body: Conversation, tokenizer: ContainerTokenizer): number[] => {
  const conversation = body.messages.map(toChatMessage);
  const { tools, chat_template_kwargs: variables } = body;
  const { add_generation_prompt: addGenerationPrompt = true, continue_final_message: continuesFinalMessage = false } = body;
  if (addGenerationPrompt && continuesFinalMessage)
    throw new BadRequest('Cannot set both `continue_final_message` and `add_generation_prompt` to True.');
  try {
    return tokenizer.encodeChat(conversation, {
      tools: tools?.map(toTemplateTool),
      variables: variables ?? undefined,
      addGenerationPrompt,
      continuesFinalMessage,
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
