import { operationOf } from '../../../shared/hosts/inference-routes.ts';
import type { Body } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { Message, ToolCall } from './message.ts';
import { ChatCompletion, ChatCompletionChunk, PerfMetrics, UsageInfo } from './reply-schema.ts';
import { chatCompletionRequest } from './request.ts';
import { FunctionDefinition } from './tool.ts';

const model = 'qwen3-8b';
const question = { role: 'user', content: 'What is a sluice?' };
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a place now.',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
};

const requestExamples = {
  simple: { summary: 'A question', value: { model, messages: [question], max_tokens: 200 } },
  stream: {
    summary: 'Streamed, with its usage',
    value: { model, messages: [question], max_tokens: 200, stream: true, stream_options: { include_usage: true } },
  },
  tools: {
    summary: 'With a tool',
    value: { model, messages: [{ role: 'user', content: 'Is it raining in Bergen?' }], tools: [weather], tool_choice: 'auto' },
  },
  json: {
    summary: 'An answer in JSON',
    value: {
      model,
      messages: [{ role: 'user', content: 'Answer in JSON with the keys "name" and "length_km": the longest river of Europe.' }],
      response_format: { type: 'json_object' },
    },
  },
};

const head = { id: 'chatcmpl-8fK2mQx0ZpLw4RtYvB', created: 1_795_219_200, model };
const usage = {
  prompt_tokens: 13,
  completion_tokens: 9,
  total_tokens: 22,
  prompt_tokens_details: null,
  completion_tokens_details: null,
};
const content = 'A gate that holds water back.';

const whole = {
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content,
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        tool_calls: null,
        reasoning: null,
      },
      logprobs: null,
      finish_reason: 'stop',
      stop_reason: null,
      raw_output: null,
      token_ids: null,
    },
  ],
  usage,
  service_tier: null,
  perf_metrics: null,
  prompt_token_ids: null,
};

const chunkOf = (delta: object, finishReason: string | null = null): object => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
});

/** Parts of the bodies that are worth a name of their own. */
export const chatParts: readonly Body[] = [
  { name: 'Message', schema: Message },
  { name: 'ToolCall', schema: ToolCall },
  { name: 'Function', schema: FunctionDefinition },
  { name: 'Usage', schema: UsageInfo },
  { name: 'PerfMetrics', schema: PerfMetrics },
];

/** @param structuredOutputs whether `response_format` may be a `json_schema` */
export const chatOperation = (structuredOutputs: boolean) =>
  operationOf('createChatCompletion', {
    tag: 'Inference',
    summary: 'Create a chat completion',
    description:
      'Answers a conversation, in one piece or as a stream. Properties that are not listed are accepted, have no effect, and are named in the reply header `x-sluice-ignored`. Null is the same as leaving a property out.',
    access: 'api_key',
    body: { name: 'ChatCompletionRequest', schema: chatCompletionRequest(structuredOutputs), examples: requestExamples },
    reply: {
      status: 200,
      description: 'The answer.',
      json: { name: 'ChatCompletion', schema: ChatCompletion, examples: { whole: { summary: 'In one piece', value: whole } } },
      events: {
        name: 'ChatCompletionChunk',
        schema: ChatCompletionChunk,
        description:
          'With `stream: true`: server-sent events, each with one of these objects in its `data`. The last is `data: [DONE]`. A failure after the first event is an event with an error object, and then the end without `[DONE]`. Lines that begin with a colon keep the connection open and say nothing.',
        stream: [
          ...[chunkOf({ role: 'assistant', content: '', refusal: null }), chunkOf({ content }), chunkOf({}, 'stop')].map((chunk) =>
            JSON.stringify(chunk),
          ),
          '[DONE]',
        ]
          .map((data) => `data: ${data}\n\n`)
          .join(''),
      },
      headers: [...INFERENCE_HEADERS, ...IDEMPOTENCY_HEADERS],
    },
    isIdempotent: true,
    errors: [400, 403, 404, 409, 413, 422, 429, 503],
  });
