import type { OperationFacts } from '../../../shared/hosts/inference-routes.ts';
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
  simple: { summary: 'A text to continue', value: { model, prompt, max_tokens: 100 } },
  stream: {
    summary: 'Streaming, with usage',
    value: { model, prompt, max_tokens: 100, stream: true, stream_options: { include_usage: true } },
  },
  several: { summary: 'Several prompts', value: { model, prompt: [prompt, 'A weir is'], max_tokens: 100 } },
  token_ids: { summary: 'Token ids instead of text', value: { model, prompt: [1986, 374, 264], max_tokens: 100 } },
  scored: {
    summary: 'Log probabilities of a text, without an answer',
    value: { model, prompt: 'A sluice', max_tokens: 0, echo: true, logprobs: 1 },
  },
};

// Created by the code that creates every answer.
const exampleReplies = () => {
  const facts: ReplyFacts = {
    id: 'cmpl-8fK2mQx0ZpLw4RtYvB',
    created: 1_795_219_200,
    model,
    requestId: '',
    organization: '',
    mayStore: true,
  };
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
};

// Only fields that a chat completion doesn't have, or that mean something else here.
const fields: Readonly<Record<string, FieldDoc>> = {
  max_tokens: {
    description:
      'The maximum number of tokens to generate for each choice. It is lowered if the context window has less room after the prompt. 0 is allowed only with `echo`.',
    default: 16,
  },
  n: {
    description:
      'The number of choices to generate for each prompt. Each choice is charged. A request can have at most 128 choices (prompts × `n`). With a temperature of 0, `n` must be 1.',
  },
  logprobs: { description: 'Returns log probabilities for the text, and for this number of most likely tokens at each position.' },
  echo: { description: 'Whether to include the prompt in the text and in `logprobs`.', default: false },
  return_token_ids: { description: 'Whether to return `token_ids` and `prompt_token_ids` in each choice.', default: false },
};

export const completionOperation: OperationFacts = {
  tag: 'Inference',
  summary: 'Create a completion',
  description:
    'Continues a text as it is, without a chat template, in one response or as a stream. Unknown fields are accepted, have no effect, and are listed in the `x-sluice-ignored` header. Null is the same as leaving a field out. A prompt that leaves no room in the context window returns 400.',
  access: 'api_key',
  body: { name: 'CompletionRequest', schema: CompletionRequest, examples: requestExamples, fields },
  reply: {
    status: 200,
    description: 'The generated text.',
    json: {
      name: 'Completion',
      schema: Completion,
      examples: {
        whole: { summary: 'Without streaming', value: example.whole },
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
        'With `stream: true`: server-sent events with one of these objects in the `data` of each. Choices are interleaved as they are generated. The last event is `data: [DONE]`. If the request fails after the first event, the stream sends an event with an error object and ends without `[DONE]`. Lines that begin with a colon only keep the connection open.',
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
