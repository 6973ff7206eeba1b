import type { ChatCompletionRequest } from '../chat/request.ts';
import { isCompactionRequest, type ResponsesRequest } from './request.ts';
import { toMessages } from './to-messages.ts';
import { namedBy } from './tools/tool-faults.ts';

const EFFORTS = { none: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const;

/** The values of `include` that have an effect. */
export const LOGPROBS = 'message.output_text.logprobs';
export const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

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
  const { body, names } = request;
  const { model, temperature, top_p, parallel_tool_calls, tool_choice: choice, reasoning } = body;
  // A summary is text, whatever the conversation could call.
  const asks = isCompactionRequest(request)
    ? {}
    : {
        ...(names.functions.length > 0 && {
          tools: names.functions.map((definition) => ({ type: 'function' as const, function: definition })),
        }),
        parallel_tool_calls,
        response_format: toResponseFormat(request),
        tool_choice:
          choice && typeof choice !== 'string' ? { type: 'function' as const, function: { name: names.encode(namedBy(choice)) } } : choice,
      };
  return {
    model,
    messages: [],
    stream: true,
    temperature,
    top_p,
    ...asks,
    reasoning_effort: reasoning?.effort && EFFORTS[reasoning.effort],
    ...(wantsLogprobs(request) && { logprobs: true, top_logprobs: body.top_logprobs }),
  };
};

/** Converts a request to a chat completion request: its settings, instructions, earlier conversation and input. */
export const toChat = (request: ResponsesRequest): ChatCompletionRequest => {
  const { body, before, input, names } = request;
  return { ...toChatSettings(request), messages: toMessages([...before.items, ...input], body.instructions, names) };
};
