import type { OperationFacts } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { ResponseReply, ResponseStreamEvent } from '../../../shared/responses/reply-schema.ts';
import { createResponseStream } from './reply-stream.ts';
import { createResponse } from './reply-whole.ts';
import { responsesRequest } from './request.ts';
import { MAX_RESPONSE_LOGPROBS } from './support.ts';
import { CustomTool, FunctionTool, NamespaceOfTools } from './tools/tool-kinds.ts';

const model = 'qwen3-8b';
const id = 'resp_8fK2mQx0ZpLw4RtYvB';
const call_id = 'call_8fK2mQx0ZpLw4RtYvB_0';
const created = 1_795_219_200;
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather of a place.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const question = { model, input: 'What is a sluice?', max_output_tokens: 200 };
const result = { type: 'function_call_output', call_id, output: 'Rain until noon.' };

const requestExamples = {
  simple: { summary: 'A question', value: question },
  stream: { summary: 'Streaming', value: { ...question, instructions: 'Answer in one sentence.', stream: true } },
  continued: { summary: 'Continue a response', value: { ...question, input: 'And a lock?', previous_response_id: id } },
  tools: { summary: 'With a tool', value: { model, input: 'Is it raining in Bergen?', tools: [weather] } },
  tool_result: {
    summary: 'The result of a function call',
    value: { model, input: [result], previous_response_id: id, tools: [weather] },
  },
  json: {
    summary: 'A JSON answer',
    value: {
      model,
      input: 'What is the longest river in Europe? Answer in JSON with the keys "name" and "length_km".',
      text: { format: { type: 'json_object' } },
    },
  },
};

// Created by the code that creates every answer.
const exampleReply = () => {
  const request = responsesRequest.parse(question);
  const facts = {
    id,
    created,
    model,
    requestId: id.replace('resp_', 'req_'),
    organization: '',
    mayStore: true,
    sampling: { temperature: 1, top_p: 1 },
  };
  const storage = { store: { put: async () => 'stored' as const }, now: () => (created + 1) * 1_000 };
  const chunks = [
    { choices: [{ delta: { content: 'A gate that holds water back.' } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
  ];
  const usage = { prompt_tokens: 13, completion_tokens: 9 };
  const reply = createResponse(request, facts, storage);
  reply.take(chunks);
  const events = createResponseStream(request, facts, storage);
  return {
    response: reply.whole(usage),
    stream: events.take(chunks) + events.usage(usage) + events.end(),
  };
};
const example = exampleReply();

const NOT_SUPPORTED = { enum: [false, null] };

// Only fields that a chat completion doesn't have, or that mean something else here.
const fields: Readonly<Record<string, FieldDoc>> = {
  input: {
    description:
      'The new input: a string, which is one user message, or a list of items. Items of an earlier response can be sent again as they are, or as an `item_reference` with their id in its output or in the list of its input items.',
    type: ['string', 'array'],
  },
  instructions: { description: 'A system message before all other items. It does not apply to responses that continue this one.' },
  max_output_tokens: {
    description:
      'The maximum number of tokens to generate, including reasoning. It is lowered if the context window has less room after the prompt. Defaults to a value that is set for each model. Set it, because an answer is generated and charged to its end even if the client disconnects.',
  },
  tools: {
    description:
      'The tools that the model can call: functions, namespaces of them, custom tools with free text, `tool_search` with `execution: client`, and `local_shell`. Tools of other types are left out, and are listed in `x-sluice-ignored` as `tools.<type>`.',
    items: {
      anyOf: [
        FunctionTool,
        CustomTool,
        NamespaceOfTools,
        {
          type: 'object',
          properties: { type: { type: 'string', maxLength: 64, not: { enum: ['function', 'custom', 'namespace'] } } },
          required: ['type'],
        },
      ],
    },
  },
  text: {
    description:
      '`format`: text, one JSON object, or JSON that follows a schema. With `json_object`, also ask for JSON in a message. `json_schema` returns 400 unless the model has `capabilities.structured_outputs`.',
  },
  reasoning: {
    description:
      '`effort`: how much a reasoning model thinks. `minimal` means `low`; `xhigh` and `max` mean `high`. With any value of `summary`, the complete reasoning is returned in `summary` instead of `content`.',
  },
  metadata: { description: 'An object of your own, up to 16 KiB of JSON. It is returned, and stored with the usage of the request.' },
  store: {
    description:
      'Whether to store the response for 30 days, so that it can be retrieved and continued. With `false`, its result is not stored under an idempotency key either. An API key with `no_content` always has `false`.',
    default: true,
  },
  previous_response_id: { description: 'The id of the response to continue. Its whole conversation comes before `input`.' },
  truncation: {
    description:
      'What to do if the conversation does not fit into the context window. `disabled`: return 400. `auto`: leave out the oldest items. If the model has no tokenizer, `auto` has no effect and is listed in `x-sluice-ignored`.',
    default: 'disabled',
  },
  top_logprobs: {
    description: `Returns the log probabilities of the tokens in the answer, and of this number of most likely tokens at each position. More than ${MAX_RESPONSE_LOGPROBS.toLocaleString('en')} log probabilities (max_output_tokens × (top_logprobs + 1)) return 400.`,
  },
  include: {
    description:
      '`message.output_text.logprobs` adds log probabilities; `reasoning.encrypted_content` adds the reasoning in a form that can be sent again. Other values have no effect.',
  },
  prompt_cache_key: {
    description: 'Requests with different keys do not share cached prompts. Organizations never share cached prompts.',
  },
  background: { description: 'Not supported. Returns 400 if it is true.', ...NOT_SUPPORTED },
  conversation: { description: 'Not supported. Returns 400 if it is set. Use `previous_response_id` instead.', ...NOT_SUPPORTED },
  prompt: { description: 'Not supported. Returns 400 if it is set. Use `instructions` and `input` instead.', ...NOT_SUPPORTED },
};

export const responseOperation: OperationFacts = {
  access: 'api_key',
  tag: 'Responses',
  summary: 'Create a response',
  description:
    'Generates an answer to a conversation of items, in one response or as a stream. The response is stored unless `store` is false. Unknown fields are accepted, have no effect, and are listed in the `x-sluice-ignored` header. Null is the same as leaving a field out. The code of a 404 says what was not found: `model_not_found`, `previous_response_not_found` or `item_not_found`.',
  body: { name: 'ResponsesRequest', schema: responsesRequest, examples: requestExamples, fields },
  reply: {
    status: 200,
    description: 'The answer.',
    json: { name: 'Response', schema: ResponseReply, examples: { whole: { summary: 'A response', value: example.response } } },
    events: {
      name: 'ResponseStreamEvent',
      schema: ResponseStreamEvent,
      description:
        'With `stream: true`: server-sent events with a name in `event` and one of these objects in `data`. The last event is `response.completed`, `response.incomplete` or, if the request failed, `response.failed`. There is no `[DONE]`. Lines that begin with a colon only keep the connection open.',
      stream: example.stream,
    },
    headers: [...INFERENCE_HEADERS, ...IDEMPOTENCY_HEADERS],
  },
  isIdempotent: true,
  waitsForCapacity: true,
  hasFallbacks: true,
  takesContent: true,
  errors: [400, 403, 404, 409, 413, 422, 429, 503],
};
