import { operationOf } from '../../../shared/hosts/inference-routes.ts';
import type { FieldDoc } from '../../../shared/hosts/operation.ts';
import { IDEMPOTENCY_HEADERS, INFERENCE_HEADERS } from '../../../shared/http/reply-headers.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';
import { type CompletionForm, createCompletion, createCompletionStream } from './reply.ts';
import { Completion, CompletionChunk } from './reply-schema.ts';
import { CompletionRequest } from './request.ts';

const model = 'qwen3-8b';
const prompt = 'A sluice is';
const text = ' a gate that holds water back.';

const requestExamples = {
  simple: { summary: 'A text to go on from', value: { model, prompt, max_tokens: 100 } },
  stream: {
    summary: 'Streamed, with its usage',
    value: { model, prompt, max_tokens: 100, stream: true, stream_options: { include_usage: true } },
  },
  several: { summary: 'Several prompts', value: { model, prompt: [prompt, 'A weir is'], max_tokens: 100 } },
  token_ids: { summary: 'Token ids in place of text', value: { model, prompt: [1986, 374, 264], max_tokens: 100 } },
  scored: {
    summary: 'Log probabilities of a text, and no answer',
    value: { model, prompt: 'A sluice', max_tokens: 0, echo: true, logprobs: 1 },
  },
};

/** Answers, made by the code that makes every answer. */
const exampleReplies = () => {
  const facts: ReplyFacts = { id: 'cmpl-8fK2mQx0ZpLw4RtYvB', created: 1_795_219_200, model, requestId: '', organization: '' };
  const form: CompletionForm = { includeUsage: true, tokenIds: false };
  const chunks = [{ choices: [{ delta: { content: text } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }];
  const usage = { prompt_tokens: 5, completion_tokens: 7 };
  const reply = createCompletion(facts, form);
  reply.take(chunks);
  const events = createCompletionStream(facts, form);
  return { whole: reply.whole(usage), stream: events.take(chunks) + events.usage(usage) + events.end() };
};
const example = exampleReplies();

const scored = {
  index: 0,
  text: 'A sluice',
  logprobs: {
    tokens: ['A', ' slu', 'ice'],
    token_logprobs: [null, -11.25, -0.5],
    top_logprobs: [null, { ' slu': -11.25, ' man': -3.75 }, { ice: -0.5 }],
    text_offset: [0, 1, 5],
  },
  finish_reason: 'length',
  stop_reason: null,
  token_ids: null,
  prompt_token_ids: null,
};
const scoredUsage = {
  prompt_tokens: 3,
  completion_tokens: 0,
  total_tokens: 3,
  prompt_tokens_details: null,
  completion_tokens_details: null,
};

/** What a completion request has of its own, or says otherwise than a chat. */
const fields: Readonly<Record<string, FieldDoc>> = {
  max_tokens: {
    description:
      'The most tokens to generate for each choice. It is lowered to what the context window leaves beside the prompt. 0 is only taken with `echo`.',
    default: 16,
  },
  n: {
    description:
      'How many choices are generated for each prompt, each of them charged: at most 128 together, prompts × `n`. With a temperature of 0 it must be 1.',
  },
  logprobs: { description: 'Log probabilities of the tokens of the text, and of this many likeliest tokens at each place.' },
  echo: { description: 'Puts the prompt before the answer; with `logprobs`, those of the prompt too.', default: false },
  return_token_ids: { description: 'Adds `token_ids` and `prompt_token_ids` to each choice.', default: false },
};

export const completionOperation = operationOf('createCompletion', {
  tag: 'Inference',
  summary: 'Create a completion',
  description:
    'Goes on from a text as it is, without a chat template, in one piece or as a stream. Properties that are not listed are accepted, have no effect, and are named in the reply header `x-sluice-ignored`. Null is the same as leaving a property out. A prompt that leaves no room in the context window is a 400.',
  access: 'api_key',
  body: { name: 'CompletionRequest', schema: CompletionRequest, examples: requestExamples, fields },
  reply: {
    status: 200,
    description: 'The text that follows.',
    json: {
      name: 'Completion',
      schema: Completion,
      examples: {
        whole: { summary: 'In one piece', value: example.whole },
        scored: {
          summary: 'Log probabilities of a text',
          value: { ...example.whole, choices: [scored], usage: scoredUsage },
        },
      },
    },
    events: {
      name: 'CompletionChunk',
      schema: CompletionChunk,
      description:
        'With `stream: true`: server-sent events, each with one of these objects in its `data`; the choices come as they are generated, interleaved. The last is `data: [DONE]`. A failure after the first event is an event with an error object, and then the end without `[DONE]`. Lines that begin with a colon keep the connection open and say nothing.',
      stream: example.stream,
    },
    headers: [...INFERENCE_HEADERS, ...IDEMPOTENCY_HEADERS],
  },
  isIdempotent: true,
  errors: [400, 403, 404, 409, 413, 422, 429, 503],
});
