import * as z from 'zod';
import { PerfMetrics, UsageInfo } from '../chat/reply-schema.ts';

/* The replies as the API reference shows them and as the tests hold them to it; reply.ts makes them. Every object may get further properties. */

const PlainLogprobs = z
  .object({
    tokens: z.array(z.string()),
    token_logprobs: z.array(z.number().nullable()).meta({ description: 'Null for the first token of a prompt that is echoed.' }),
    top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).meta({
      description: 'Of the likeliest tokens at each place, and of the token that stands there.',
    }),
    text_offset: z.array(z.int()).meta({ description: 'Where each token begins in the text, in characters.' }),
  })
  .nullable();

const FinishReason = z
  .enum(['stop', 'length', 'content_filter'])
  .nullable()
  .meta({ description: '`length`: max_tokens or the context window ended the answer.' });

const TokenIds = z.array(z.int());

const Choice = z.object({
  index: z.int().meta({ description: 'Counted through all prompts: the `n` of the first, then those of the second.' }),
  text: z.string(),
  logprobs: PlainLogprobs,
  finish_reason: FinishReason,
  stop_reason: z.string().nullable().meta({ description: 'The stop string, or the decimal id of the token, that ended the answer.' }),
  token_ids: TokenIds.nullable().meta({ description: 'With `return_token_ids`: the ids of the answer.' }),
  prompt_token_ids: TokenIds.nullable().meta({
    description: 'With `return_token_ids`: the ids of the choice’s prompt, where the runtime tells them.',
  }),
});

const head = {
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  model: z.string(),
};

/** A reply in one piece. */
export const Completion = z.object({ ...head, choices: z.array(Choice), usage: UsageInfo, perf_metrics: PerfMetrics.nullable() });

const StreamChoice = z.object({
  index: Choice.shape.index,
  text: z.string(),
  logprobs: PlainLogprobs,
  finish_reason: FinishReason,
  stop_reason: z.string().optional(),
  token_ids: TokenIds.optional(),
  prompt_token_ids: TokenIds.optional(),
});

/** An event of a stream. */
export const CompletionChunk = z.object({
  ...head,
  choices: z.array(StreamChoice).meta({ description: 'One; none in the event that has the usage.' }),
  usage: UsageInfo.nullish().meta({
    description: 'With `stream_options.include_usage`: in the last event before `[DONE]`, and null in all others.',
  }),
  perf_metrics: PerfMetrics.optional().meta({ description: 'With `perf_metrics_in_response`: in the last event that ends a choice.' }),
});
