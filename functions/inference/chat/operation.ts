import type { OperationFacts } from '../../../shared/hosts/inference-routes.ts';
import type { Body } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { Message, ToolCall } from './message.ts';
import { ChatCompletion, ChatCompletionChunk, PerfMetrics, UsageInfo } from './reply-schema.ts';
import { chatRequest } from './request.ts';
import { FunctionDefinition } from './tool.ts';

const model = 'qwen3-8b';
const question = { role: 'user', content: 'What is a sluice?' };
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the current weather of a place.',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
};

const requestExamples = {
  simple: { summary: 'A question', value: { model, messages: [question], max_tokens: 200 } },
  stream: {
    summary: 'Streaming, with usage',
    value: { model, messages: [question], max_tokens: 200, stream: true, stream_options: { include_usage: true } },
  },
  tools: {
    summary: 'With a tool',
    value: { model, messages: [{ role: 'user', content: 'Is it raining in Bergen?' }], tools: [weather], tool_choice: 'auto' },
  },
  json: {
    summary: 'A JSON answer',
    value: {
      model,
      messages: [{ role: 'user', content: 'What is the longest river in Europe? Answer in JSON with the keys "name" and "length_km".' }],
      response_format: { type: 'json_object' },
    },
  },
};

const head = { id: 'chatcmpl-8fK2mQx0ZpLw4RtYvB', created: 1_795_219_200, model };
const usage = {
  prompt_tokens: 13,
  completion_tokens: 9,
  total_tokens: 22,
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

/** Parts of the bodies that get their own component in the reference. */
export const chatParts: readonly Body[] = [
  { name: 'Message', schema: Message },
  { name: 'ToolCall', schema: ToolCall },
  { name: 'Function', schema: FunctionDefinition },
  { name: 'Usage', schema: UsageInfo },
  { name: 'PerfMetrics', schema: PerfMetrics },
];

export const chatOperation: OperationFacts = {
  tag: 'Inference',
  summary: 'Create a chat completion',
  description:
    'Generates an answer to a conversation, in one response or as a stream. Unknown fields are accepted, have no effect, and are listed in the `x-sluice-ignored` header. Null is the same as leaving a field out.',
  access: 'api_key',
  body: { name: 'ChatCompletionRequest', schema: chatRequest, examples: requestExamples },
  reply: {
    status: 200,
    description: 'The answer.',
    json: { name: 'ChatCompletion', schema: ChatCompletion, examples: { whole: { summary: 'Without streaming', value: whole } } },
    events: {
      name: 'ChatCompletionChunk',
      schema: ChatCompletionChunk,
      description:
        'With `stream: true`: server-sent events with one of these objects in the `data` of each. The last event is `data: [DONE]`. If the request fails after the first event, the stream sends an event with an error object and ends without `[DONE]`. Lines that begin with a colon only keep the connection open.',
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
  waitsForCapacity: true,
  hasFallbacks: true,
  takesContent: true,
  errors: [400, 403, 404, 409, 413, 422, 429, 503],
};
