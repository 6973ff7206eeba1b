import { operationOf } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import { ResponseReply, ResponseStreamEvent } from '../../../shared/responses/reply-schema.ts';
import { createResponseStream } from './reply-stream.ts';
import { createResponse } from './reply-whole.ts';
import { responsesRequest } from './request.ts';
import { MAX_RESPONSE_LOGPROBS } from './support.ts';
import { FunctionTool } from './tool.ts';

const model = 'qwen3-8b';
const id = 'resp_8fK2mQx0ZpLw4RtYvB';
const call_id = 'call_8fK2mQx0ZpLw4RtYvB_0';
const created = 1_795_219_200;
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place now.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const question = { model, input: 'What is a sluice?', max_output_tokens: 200 };
const result = { type: 'function_call_output', call_id, output: 'Rain until noon.' };

const requestExamples = {
  simple: { summary: 'A question', value: question },
  stream: { summary: 'Streamed', value: { ...question, instructions: 'Answer in one sentence.', stream: true } },
  continued: { summary: 'A response continued', value: { ...question, input: 'And a lock?', previous_response_id: id } },
  tools: { summary: 'With a tool', value: { model, input: 'Is it raining in Bergen?', tools: [weather] } },
  tool_result: {
    summary: 'The result of a call',
    value: { model, input: [result], previous_response_id: id, tools: [weather] },
  },
  json: {
    summary: 'An answer in JSON',
    value: {
      model,
      input: 'Answer in JSON with the keys "name" and "length_km": the longest river of Europe.',
      text: { format: { type: 'json_object' } },
    },
  },
};

/** An answer, made by the code that makes every answer. */
const exampleReply = () => {
  const request = responsesRequest(false).parse(question);
  const facts = { id, created, model, requestId: id.replace('resp_', 'req_'), organization: '' };
  const keeping = { store: { put: async () => 'kept' as const }, now: () => (created + 1) * 1_000 };
  const chunks = [
    { choices: [{ delta: { content: 'A gate that holds water back.' } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
  ];
  const usage = { prompt_tokens: 13, completion_tokens: 9 };
  const reply = createResponse(request, facts, keeping);
  reply.take(chunks);
  const events = createResponseStream(request, facts, keeping);
  return {
    response: reply.whole(usage),
    stream: events.take(chunks) + events.usage(usage) + events.end(),
  };
};
const example = exampleReply();

const NOT_SUPPORTED = { enum: [false, null] };

/** What a request for a response has of its own. */
const fields: Readonly<Record<string, FieldDoc>> = {
  input: {
    description:
      'What is said now: a string, which is one message of the user, or items. Items of an earlier response may be sent back as they are, or as an `item_reference` with the id that they have in its output, or that its input items are listed with.',
    type: ['string', 'array'],
  },
  instructions: { description: 'A system message before everything else. It is not carried over by `previous_response_id`.' },
  max_output_tokens: {
    description:
      'The most tokens to generate, reasoning included. It is lowered to what the context window leaves beside the prompt. Without it the default of the model counts. Set it: an answer that nobody reads any more is generated, and charged, to its end.',
  },
  tools: {
    description:
      'The functions that the model may call. Tools of other types are left out, and named in `x-sluice-ignored` as `tools.<type>`.',
    items: {
      anyOf: [
        FunctionTool,
        { type: 'object', properties: { type: { type: 'string', maxLength: 64, not: { const: 'function' } } }, required: ['type'] },
      ],
    },
  },
  text: { description: '`format`: text, or one JSON object; with `json_object`, also say in a message that JSON is wanted.' },
  reasoning: {
    description:
      '`effort`: how much a reasoning model thinks; `minimal` is `low`, `xhigh` and `max` are `high`. With `summary`, whichever it is, the whole reasoning is in `summary` in place of `content`.',
  },
  metadata: { description: 'An object of your own, up to 16 KiB of JSON. It is in the response, and kept with the usage of the request.' },
  store: { description: 'Keeps the response for 30 days, so that it can be read and continued.', default: true },
  previous_response_id: { description: 'The response that this one continues: the whole conversation up to its end comes before `input`.' },
  truncation: {
    description:
      'What happens where the conversation does not fit into the context window: a 400, or with `auto` the oldest items are left out. `auto` is without effect on a model without a tokenizer, and then named in `x-sluice-ignored`.',
    default: 'disabled',
  },
  top_logprobs: {
    description: `Log probabilities of the tokens of the answer, and of this many likeliest tokens at each place. More than ${MAX_RESPONSE_LOGPROBS.toLocaleString('en')} (max_output_tokens × (top_logprobs + 1)) are a 400.`,
  },
  include: { description: '`message.output_text.logprobs` adds log probabilities. Everything else is without effect.' },
  prompt_cache_key: {
    description: 'Requests of your organization with different keys share no cached prompts. With other organizations they never do.',
  },
  background: { description: 'Not supported: a 400 where it is true.', ...NOT_SUPPORTED },
  conversation: { description: 'Not supported: a 400 where it is set. Use `previous_response_id`.', ...NOT_SUPPORTED },
  prompt: { description: 'Not supported: a 400 where it is set. Send `instructions` and `input`.', ...NOT_SUPPORTED },
};

/** @param structuredOutputs whether `text.format` may be a `json_schema` */
export const responseOperation = (structuredOutputs: boolean) =>
  operationOf('createResponse', {
    access: 'api_key',
    tag: 'Responses',
    summary: 'Create a response',
    description:
      'Answers a conversation of items, in one piece or as a stream, and keeps the answer unless `store` is false. Properties that are not listed are accepted, have no effect, and are named in the reply header `x-sluice-ignored`. Null is the same as leaving a property out. A 404 is told apart by its code: `model_not_found`, `previous_response_not_found`, `item_not_found`.',
    body: { name: 'ResponsesRequest', schema: responsesRequest(structuredOutputs), examples: requestExamples, fields },
    reply: {
      status: 200,
      description: 'The answer.',
      json: { name: 'Response', schema: ResponseReply, examples: { whole: { summary: 'A response', value: example.response } } },
      events: {
        name: 'ResponseStreamEvent',
        schema: ResponseStreamEvent,
        description:
          'With `stream: true`: server-sent events, each with its name in `event` and one of these objects in its `data`. The last is `response.completed`, `response.incomplete` or, after a failure, `response.failed`; there is no `[DONE]`. Lines that begin with a colon keep the connection open and say nothing.',
        stream: example.stream,
      },
      headers: [...INFERENCE_HEADERS, ...IDEMPOTENCY_HEADERS],
    },
    isIdempotent: true,
    errors: [400, 403, 404, 409, 413, 422, 429, 503],
  });
