import type { Model } from '../models/model.ts';
import type { ChatPrompt, PromptMessage, PromptToolCall } from '../tokens/prompt.ts';
import type { Message, ToolCall } from './message.ts';
import type { ChatCompletionRequest } from './request.ts';
import { toUpstreamThinking } from './thinking.ts';
import { toUpstreamTools } from './tool.ts';

/** Parts are lines, as vLLM joins them. */
const textOf = (content: Message['content']): string | null =>
  Array.isArray(content)
    ? content.map((part) => (part.type === 'text' ? (part as { text: string }).text : (part as { refusal: string }).refusal)).join('\n')
    : (content ?? null);

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/** A call's arguments as the text of an object, which chat templates take apart; text that is none is kept whole under `_raw`. */
const argumentsOf = (value: ToolCall['function']['arguments']): string => {
  if (typeof value !== 'string') return JSON.stringify(value ?? {});
  if (value.trim() === '') return '{}';
  return isObject(value) ? value : JSON.stringify({ _raw: value });
};

const ROLES: Record<Message['role'], PromptMessage['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** The messages in a runtime's words: today's names, ids on every call and on what answers it, arguments as JSON objects. */
const toMessages = (messages: readonly Message[], keepsReasoning: (index: number) => boolean): PromptMessage[] => {
  let open: PromptToolCall[] = [];
  return messages.map((message, index) => {
    const { role, name } = message;
    const content = textOf(message.content);
    const named = name && role !== 'function' ? { name } : {};
    if (role === 'tool' || role === 'function') {
      const id = message.tool_call_id || open[0]?.id || '';
      return { role: ROLES[role], content: content ?? '', tool_call_id: id, ...named };
    }
    if (role !== 'assistant') return { role: ROLES[role], content: content ?? '', ...named };
    open = toCalls(message, index, messages);
    const reasoning = keepsReasoning(index) ? message.reasoning || message.reasoning_content : undefined;
    return {
      role,
      content: open.length > 0 ? content || null : (content ?? ''),
      ...named,
      ...(reasoning && { reasoning }),
      ...(open.length > 0 && { tool_calls: open }),
    };
  });
};

/** An assistant's calls; one without an id gets the id that its result names, or one of its own. */
const toCalls = ({ tool_calls, function_call }: Message, index: number, messages: readonly Message[]): PromptToolCall[] => {
  const calls: readonly ToolCall[] = tool_calls?.length ? tool_calls : function_call ? [{ type: 'function', function: function_call }] : [];
  if (calls.length === 0) return [];
  const known = new Set(calls.map(({ id }) => id));
  const unclaimed: string[] = [];
  for (let next = index + 1; messages[next]?.role === 'tool'; next++) {
    const id = messages[next]?.tool_call_id;
    if (id && !known.has(id)) unclaimed.push(id);
  }
  return calls.map(({ id, function: called }, position) => ({
    id: id || unclaimed.shift() || `call_${index}_${position}`,
    type: 'function',
    function: { name: called.name ?? '', arguments: argumentsOf(called.arguments) },
  }));
};

/** Which assistant turns keep their reasoning: all, none, or those after the last message of the user. */
const reasoningKept = ({ reasoning_history, messages }: ChatCompletionRequest): ((index: number) => boolean) => {
  if (reasoning_history === 'disabled') return () => false;
  if (reasoning_history !== 'interleaved') return () => true;
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  return (index) => index > lastUser;
};

/** Everything of a request that becomes the model's prompt. */
export const toChatPrompt = (request: ChatCompletionRequest, model: Model): ChatPrompt => {
  const { tools } = toUpstreamTools(request);
  const { variables } = toUpstreamThinking(request, model);
  return {
    messages: toMessages(request.messages, reasoningKept(request)),
    ...(tools && { tools }),
    ...(variables && { variables }),
  };
};
