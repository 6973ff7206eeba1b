import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import type { ChatCompletionRequest } from '../chat/request.ts';
import { toChatPrompt } from '../chat/to-prompt.ts';
import { isThinking, type MessagesRequest } from './request.ts';
import type { MessagesToolChoice, MessagesTools } from './tools.ts';

const EFFORTS = { low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const;

const toTools = (tools: MessagesTools): ChatCompletionRequest['tools'] =>
  tools.map(({ name, description, input_schema, strict }) => ({
    type: 'function',
    function: { name, description, parameters: input_schema, strict },
  }));

const toToolChoice = (choice: MessagesToolChoice): ChatCompletionRequest['tool_choice'] => {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } };
  return choice.type === 'any' ? 'required' : choice.type;
};

const toThinking = ({ body }: MessagesRequest, maxTokens: number | undefined): ChatCompletionRequest['thinking'] => {
  if (!isThinking(body)) return { type: 'disabled' };
  const budget = body.thinking?.type === 'enabled' ? body.thinking.budget_tokens : undefined;
  if (budget == null || maxTokens === undefined) return { type: 'enabled', budget_tokens: budget };
  // The answer itself needs at least one token.
  return { type: 'enabled', budget_tokens: Math.max(1, Math.min(budget, maxTokens - 1)) };
};

const toResponseFormat = ({ body }: MessagesRequest): ChatCompletionRequest['response_format'] => {
  const format = body.output_config?.format ?? body.output_format;
  return format ? { type: 'json_schema', json_schema: { name: 'output', schema: format.schema, strict: true } } : undefined;
};

/**
 * Converts a request to a chat completion request without messages, for settings and checks.
 * @param maxTokens the limit of the answer, which a budget for thinking stays below; absent if it isn't known yet
 */
export const toChatSettings = (request: MessagesRequest, maxTokens?: number): ChatCompletionRequest => {
  const { model, temperature, top_p, top_k, stop_sequences, tools, tool_choice: choice, output_config } = request.body;
  return {
    model,
    messages: [],
    stream: true,
    temperature,
    top_p,
    top_k,
    stop: stop_sequences,
    tools: tools && toTools(tools),
    tool_choice: choice && toToolChoice(choice),
    parallel_tool_calls: choice && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use ? false : undefined,
    response_format: toResponseFormat(request),
    thinking: toThinking(request, maxTokens),
    reasoning_effort: isThinking(request.body) && output_config?.effort ? EFFORTS[output_config.effort] : undefined,
  };
};

/** Converts the part of a request that becomes the model's prompt. */
export const messagesPrompt = (request: MessagesRequest, model: Model): ChatPrompt => ({
  ...toChatPrompt({ ...toChatSettings(request), messages: request.conversation.messages }, model),
  ...(request.conversation.continues && { continues: true }),
});
