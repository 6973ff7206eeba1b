import type { ChatCompletionRequest, Message, ToolCall } from './request.ts';

/** What the chat template adds to a message, at most, in bytes. */
const MESSAGE_OVERHEAD_BYTES = 16;

const textOf = (content: Message['content']): string | null =>
  Array.isArray(content) ? content.map((part) => part.text).join('') : (content ?? null);

const toToolCall = ({ id, type, function: called }: ToolCall): Record<string, unknown> => ({
  ...(id && { id }),
  type,
  function: {
    name: called.name ?? '',
    arguments: typeof called.arguments === 'string' ? called.arguments : JSON.stringify(called.arguments ?? {}),
  },
});

const toMessage = ({ role, content, name, tool_call_id, tool_calls }: Message): Record<string, unknown> => ({
  role: role === 'developer' ? 'system' : role,
  content: textOf(content),
  ...(name && { name }),
  ...(tool_call_id && { tool_call_id }),
  ...(tool_calls && { tool_calls: tool_calls.map(toToolCall) }),
});

/** The prompt's size in bytes, from which its tokens are estimated before anything is asked of the model. */
export const promptBytes = ({ messages }: ChatCompletionRequest): number =>
  messages.reduce(
    (bytes, { content, tool_calls }) =>
      bytes +
      Buffer.byteLength(textOf(content) ?? '') +
      (tool_calls ? Buffer.byteLength(JSON.stringify(tool_calls.map(toToolCall))) : 0) +
      MESSAGE_OVERHEAD_BYTES,
    0,
  );

/**
 * The body for a runtime's chat endpoint: no null but the content of a turn that only calls tools, no key that is not meant to go there, always a stream with usage and
 * always a bound, because the reservation and the bill rest on both. `request_id` is how a request is found in its log.
 */
export const toUpstreamChat = (
  request: ChatCompletionRequest,
  facts: { model: string; maxTokens: number; requestId: string },
): Record<string, unknown> => ({
  model: facts.model,
  messages: request.messages.map(toMessage),
  max_tokens: facts.maxTokens,
  ...(request.temperature != null && { temperature: request.temperature }),
  ...(request.seed != null && { seed: request.seed }),
  ...(request.stop != null && { stop: request.stop }),
  stream: true,
  stream_options: { include_usage: true },
  request_id: facts.requestId,
});
