import * as z from 'zod';

// The API reference documents these responses and tests check them; reply-whole.ts and reply-stream.ts create them.
// Every object can get more fields.

const Milliseconds = z.number().nullish();

/** The fields that `perf_metrics_in_response` adds to the runtime's own measurements. */
export const PerfMetrics = z.looseObject({
  time_to_first_token_ms: Milliseconds.meta({ description: 'From the arrival of the request to the first token of the answer.' }),
  tokens_per_second: z.number().nullish().meta({ description: 'For all choices together, after the first token.' }),
  gateway_time_ms: Milliseconds.meta({ description: 'From the arrival of the request until it is sent to the model.' }),
  queue_time_ms: Milliseconds.meta({ description: 'From then until the container accepts the request.' }),
});

export const UsageInfo = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nullish() }).optional(),
  completion_tokens_details: z.looseObject({ reasoning_tokens: z.int().nullish() }).optional(),
});

const scored = {
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullish().meta({ description: 'The UTF-8 bytes of the token. A token can be a part of a character.' }),
};
const TokenLogprob = z.looseObject({ ...scored, top_logprobs: z.array(z.looseObject(scored)) });
const Logprobs = z.object({ content: z.array(TokenLogprob), refusal: z.null() }).nullable();

const TokenIds = z.array(z.int()).nullable();
const FinishReason = z
  .enum(['stop', 'length', 'content_filter', 'tool_calls', 'function_call'])
  .nullable()
  .meta({ description: '`length`: the answer reached max_tokens or the end of the context window.' });
const StopReason = z
  .string()
  .nullable()
  .meta({ description: 'The stop string that ended the answer, or the decimal id of the stop token.' });

const CalledFunction = z.object({ name: z.string(), arguments: z.string().meta({ description: 'JSON as the model wrote it.' }) });
const MadeToolCall = z.object({ id: z.string(), type: z.literal('function'), function: CalledFunction });

// The calls are null only in results that release 0.1.0 stored under an idempotency key.
const ReplyMessage = z.object({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  refusal: z.string().nullable(),
  annotations: z.array(z.looseObject({})),
  audio: z.null(),
  function_call: CalledFunction.nullish().meta({
    deprecated: true,
    description: 'Replaces tool_calls if the request has `functions`.',
  }),
  tool_calls: z.array(MadeToolCall).nullish(),
  reasoning: z.string().nullable().meta({ description: 'The reasoning that a reasoning model wrote before its answer.' }),
});

const Choice = z.object({
  index: z.int(),
  message: ReplyMessage,
  logprobs: Logprobs,
  finish_reason: FinishReason,
  stop_reason: StopReason,
  raw_output: z.null(),
  token_ids: TokenIds.meta({ description: 'With `return_token_ids`: the token ids of the answer.' }),
});

/** A response without streaming (interface 2.3). */
export const ChatCompletion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  model: z.string(),
  choices: z.array(Choice),
  usage: UsageInfo,
  service_tier: z.null(),
  perf_metrics: PerfMetrics.nullable(),
  prompt_token_ids: TokenIds.meta({ description: 'With `return_token_ids`: the token ids of the prompt, if the runtime returns them.' }),
});

const CallDelta = z.object({
  index: z.int(),
  id: z.string().optional(),
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
});

const Delta = z.object({
  role: z.literal('assistant').optional(),
  content: z.string().optional(),
  refusal: z.null().optional(),
  reasoning: z.string().optional(),
  tool_calls: z
    .array(CallDelta)
    .optional()
    .meta({ description: 'The first delta of a call has its id, type and name; the others only add to its arguments.' }),
  function_call: z.object({ name: z.string().optional(), arguments: z.string() }).optional().meta({ deprecated: true }),
});

const StreamChoice = z.object({
  index: z.int(),
  delta: Delta,
  logprobs: Logprobs,
  finish_reason: FinishReason,
  stop_reason: z.string().optional(),
  token_ids: z.array(z.int()).optional(),
});

/** An event of a stream (interface 2.4). */
export const ChatCompletionChunk = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  model: z.string(),
  choices: z.array(StreamChoice).meta({ description: 'One choice, or none in the event with the usage.' }),
  usage: UsageInfo.nullish().meta({
    description: 'With `stream_options.include_usage`: set in the last event before `[DONE]`, null in all others.',
  }),
  perf_metrics: PerfMetrics.optional().meta({ description: 'With `perf_metrics_in_response`: in the last event that ends a choice.' }),
  prompt_token_ids: z.array(z.int()).optional(),
});
