import type { ChatCompletionRequest } from '../chat/request.ts';
import type { ResponsesRequest } from './request.ts';
import { toMessages } from './to-messages.ts';
import { isFunction } from './tool.ts';

const EFFORTS = { none: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const;

/** The only value of `include` that has an effect. */
export const LOGPROBS = 'message.output_text.logprobs';

/** True if the request asks for log probabilities. */
export const wantsLogprobs = ({ body }: ResponsesRequest): boolean =>
  body.include?.includes(LOGPROBS) === true || (body.top_logprobs ?? 0) > 0;

const toResponseFormat = ({ body }: ResponsesRequest): ChatCompletionRequest['response_format'] => {
  const format = body.text?.format;
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, description, schema, strict } };
};

/** Converts a request to a chat completion request without messages, for settings and checks. */
export const toChatSettings = (request: ResponsesRequest): ChatCompletionRequest => {
  const { body } = request;
  const { model, temperature, top_p, parallel_tool_calls, tool_choice: choice, reasoning } = body;
  const tools = body.tools?.filter(isFunction).map(({ name, description, parameters, strict }) => ({
    type: 'function' as const,
    function: { name, description, parameters, strict },
  }));
  return {
    model,
    messages: [],
    stream: true,
    temperature,
    top_p,
    tools,
    parallel_tool_calls,
    response_format: toResponseFormat(request),
    tool_choice: choice && typeof choice !== 'string' ? { type: 'function', function: { name: choice.name } } : choice,
    reasoning_effort: reasoning?.effort && EFFORTS[reasoning.effort],
    ...(wantsLogprobs(request) && { logprobs: true, top_logprobs: body.top_logprobs }),
  };
};

/** Converts a request to a chat completion request: its settings, instructions, earlier conversation and input. */
export const toChat = (request: ResponsesRequest): ChatCompletionRequest => {
  const { body, before, input } = request;
  return { ...toChatSettings(request), messages: toMessages([...before.items, ...input], body.instructions) };
};
