import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt, PromptMessage, PromptToolCall } from '../../../shared/tokens/prompt.ts';
import { callsOf, pairCalls } from './call-ids.ts';
import { isJsonObject } from './json-object.ts';
import type { Message, ToolCall } from './message.ts';
import type { ChatCompletionRequest } from './request.ts';
import { templateVariables, toUpstreamThinking } from './thinking.ts';
import { toUpstreamTools, type UpstreamTool } from './tool.ts';

// vLLM joins parts with line breaks too.
const textOf = (content: Message['content']): string | null =>
  Array.isArray(content)
    ? content.map((part) => (part.type === 'text' ? (part as { text: string }).text : (part as { refusal: string }).refusal)).join('\n')
    : (content ?? null);

// Chat templates read the keys of arguments. Text that isn't a JSON object is passed under `_raw`.
const argumentsOf = (value: ToolCall['function']['arguments']): string => {
  if (typeof value !== 'string') return JSON.stringify(value ?? {});
  if (value.trim() === '') return '{}';
  return isJsonObject(value) ? value : JSON.stringify({ _raw: value });
};

const ROLES: Record<Message['role'], PromptMessage['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

const toMessages = (messages: readonly Message[], keepsReasoning: (index: number) => boolean): PromptMessage[] => {
  const { callIds, resultIds } = pairCalls(messages);
  return messages.map((message, index) => {
    const { role, name } = message;
    const content = textOf(message.content);
    const named = name && role !== 'function' ? { name } : {};
    const answered = resultIds.get(index);
    if (answered !== undefined) return { role: 'tool', content: content ?? '', tool_call_id: answered, ...named };
    if (role !== 'assistant') return { role: ROLES[role], content: content ?? '', ...named };
    const calls = toCalls(message, callIds.get(index) ?? []);
    const reasoning = keepsReasoning(index) ? message.reasoning || message.reasoning_content : undefined;
    return {
      role,
      content: calls.length > 0 ? content || null : (content ?? ''),
      ...named,
      ...(reasoning && { reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  });
};

const toCalls = (message: Message, ids: readonly string[]): PromptToolCall[] =>
  callsOf(message).map(({ function: called }, position) => ({
    id: ids[position] ?? '',
    type: 'function',
    function: { name: called.name ?? '', arguments: argumentsOf(called.arguments) },
  }));

const reasoningKept = ({ reasoning_history, messages }: ChatCompletionRequest): ((index: number) => boolean) => {
  if (reasoning_history === 'disabled') return () => false;
  if (reasoning_history !== 'interleaved') return () => true;
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  return (index) => index > lastUser;
};

// vLLM gives a description and parameters that a tool leaves out as null.
const toPromptTools = (tools: readonly UpstreamTool[]): string =>
  JSON.stringify(
    tools.map(({ type, function: { name, description = null, parameters = null, ...others } }) => ({
      type,
      function: { name, description, parameters, ...others },
    })),
  );

/** Converts the part of a request that becomes the model's prompt. */
export const toChatPrompt = (request: ChatCompletionRequest, model: Model): ChatPrompt => {
  const { tools } = toUpstreamTools(request);
  const variables = templateVariables(toUpstreamThinking(request, model));
  return {
    messages: toMessages(request.messages, reasoningKept(request)),
    ...(tools && { tools: toPromptTools(tools) }),
    ...(variables && { variables }),
  };
};
