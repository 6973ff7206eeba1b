import type { OperationsById } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { InputTokens, MessageReply, MessageStreamEvent } from './reply-schema.ts';
import { createMessageStream } from './reply-stream.ts';
import { createMessageReply } from './reply-whole.ts';
import { countRequest, messagesRequest } from './request.ts';

const model = 'qwen3-8b';
const question = { role: 'user', content: 'What is a sluice?' };
const rain = { role: 'user', content: 'Is it raining in Bergen?' };
const weather = {
  name: 'get_weather',
  description: 'Get the current weather of a place.',
  input_schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const toolUse = { type: 'tool_use', id: 'toolu_8fK2mQx0ZpLw4RtYvB_0', name: 'get_weather', input: { place: 'Bergen' } };
const toolResult = { type: 'tool_result', tool_use_id: toolUse.id, content: 'Rain until noon.' };

const requestExamples = {
  simple: { summary: 'A question', value: { model, max_tokens: 200, messages: [question] } },
  system: { summary: 'With a system prompt', value: { model, max_tokens: 200, system: 'Answer in one sentence.', messages: [question] } },
  stream: { summary: 'Streaming', value: { model, max_tokens: 200, messages: [question], stream: true } },
  tools: { summary: 'With a tool', value: { model, max_tokens: 200, messages: [rain], tools: [weather] } },
  tool_result: {
    summary: 'The result of a tool call',
    value: {
      model,
      max_tokens: 200,
      messages: [rain, { role: 'assistant', content: [toolUse] }, { role: 'user', content: [toolResult] }],
      tools: [weather],
    },
  },
};

// Created by the code that creates every answer.
const exampleReply = () => {
  const facts = {
    id: 'msg_8fK2mQx0ZpLw4RtYvB',
    created: 1_795_219_200,
    model,
    requestId: 'req_8fK2mQx0ZpLw4RtYvB',
    organization: '',
    mayStore: true,
    promptTokens: 13,
  };
  const chunks = [
    { choices: [{ delta: { content: 'A gate that holds water back.' } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
  ];
  const usage = { prompt_tokens: 13, completion_tokens: 9 };
  const reply = createMessageReply(facts);
  reply.take(chunks);
  const events = createMessageStream(facts);
  return { message: reply.whole(usage), stream: events.take(chunks) + events.usage(usage) + events.end() };
};
const example = exampleReply();

const EMPTY = { type: ['array', 'object', 'null'], maxItems: 0, maxProperties: 0 };

// Only fields that a chat completion doesn't have, or that mean something else here.
const fields: Readonly<Record<string, FieldDoc>> = {
  system: {
    description:
      'The system prompt: a string, or a list of text blocks. A line at the beginning of a block with `x-anthropic-billing-header` is left out.',
  },
  messages: {
    description:
      "The conversation so far. A `system` message in the middle becomes a part of the user message or the tool result before it. If the last message is an assistant message, the model continues it; this returns 400 if its runtime can't.",
  },
  max_tokens: {
    description:
      'The maximum number of tokens to generate, including thinking. It is lowered if the model or the context window has less room.',
  },
  stop_sequences: { description: 'Up to 4 strings that end the answer. `stop_sequence` in the response says which one did.' },
  tools: { description: 'The tools that the model can call, and the client runs. Tools that Anthropic runs return 400.' },
  tool_choice: {
    description:
      '`auto`: the model decides. `none`: no calls. `any`: at least one call. `tool`: a call of the tool in `name`. With `disable_parallel_tool_use`, at most one call.',
    default: { type: 'auto' },
  },
  thinking: {
    description:
      'Whether the model thinks before it answers: `enabled`, with an optional `budget_tokens`, `adaptive` or `between_tools`. Defaults to `disabled`.',
    default: { type: 'disabled' },
  },
  output_config: {
    description:
      '`effort`: how much a model thinks that thinks; `xhigh` and `max` mean `high`. `format`: the JSON Schema of the answer, if the model supports structured outputs.',
  },
  output_format: { description: 'The older name of `output_config.format`.' },
  metadata: {
    description:
      '`user_id`: the id of your end user, of which the first 512 characters are stored with the usage of the request. If the API key has limits for each of its end users (`per_user`), it is required, and they are counted by it.',
  },
  mcp_servers: { description: 'Not supported. Returns 400 unless it is empty. Send the tools of the servers in `tools`.', ...EMPTY },
  container: { description: 'Not supported. Returns 400 unless it is empty.', ...EMPTY },
  thread: { description: "Not supported. Returns 400 unless it is null, after which Anthropic's clients send all messages.", type: 'null' },
};

const HEADERS = ['request-id', ...INFERENCE_HEADERS, ...IDEMPOTENCY_HEADERS] as const;

export const messagesOperations = {
  createMessage: {
    access: 'api_key',
    tag: 'Messages',
    summary: 'Create a message',
    description:
      "Generates an answer to a conversation, in one response or as a stream, for clients of Anthropic's Messages API. The API key can also be in the header `x-api-key`. Any `anthropic-version` and `anthropic-beta` is accepted. Other fields of that API and unknown fields have no effect, and are listed in the `x-sluice-ignored` header. Null is the same as leaving a field out.",
    body: { name: 'MessagesRequest', schema: messagesRequest, examples: requestExamples, fields },
    reply: {
      status: 200,
      description: 'The answer.',
      json: { name: 'MessageReply', schema: MessageReply, examples: { whole: { summary: 'A message', value: example.message } } },
      events: {
        name: 'MessageStreamEvent',
        schema: MessageStreamEvent,
        description:
          'With `stream: true`: server-sent events with a name in `event` and one of these objects in `data`. The last event is `message_stop` or, if the request failed, `error`. There is no `[DONE]`. `ping` and lines that begin with a colon only keep the connection open.',
        stream: example.stream,
      },
      headers: HEADERS,
    },
    isIdempotent: true,
    waitsForCapacity: true,
    hasFallbacks: true,
    takesContent: true,
    errorShape: 'messages',
    errors: [400, 402, 403, 404, 409, 413, 429, 503],
  },
  countMessageTokens: {
    access: 'api_key',
    tag: 'Messages',
    summary: 'Count the input tokens of a message',
    description:
      "Counts the tokens of the prompt that the same request would have as a message. It is free: a request in flight while it lasts, and then neither a request nor tokens of the key's limits. Returns 404 if the model was published without its tokenizer.",
    body: {
      name: 'CountTokensRequest',
      schema: countRequest,
      examples: { count: { summary: 'A question', value: { model, messages: [question] } } },
      fields,
    },
    reply: {
      status: 200,
      description: 'The number of tokens.',
      json: { name: 'InputTokens', schema: InputTokens, examples: { count: { summary: 'A question', value: { input_tokens: 13 } } } },
      headers: ['request-id', ...INFERENCE_HEADERS],
    },
    takesContent: true,
    errorShape: 'messages',
    errors: [400, 403, 404, 413, 429, 503],
  },
} as const satisfies OperationsById;
