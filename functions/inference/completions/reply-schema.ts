import * as z from 'zod';
import { PerfMetrics, UsageInfo } from '../chat/reply-schema.ts';

// The API reference documents these responses and tests check them; reply.ts creates them. Every object can get more
// fields.

const PlainLogprobs = z
  .object({
    tokens: z.array(z.string()),
    token_logprobs: z.array(z.number().nullable()).meta({ description: 'Null for the first token of an echoed prompt.' }),
    top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).meta({
      description: 'The most likely tokens at each position, and the chosen token.',
    }),
    text_offset: z.array(z.int()).meta({ description: 'The position in the text where each token begins, in characters.' }),
  })
  .nullable();

const FinishReason = z
  .enum(['stop', 'length', 'content_filter'])
  .nullable()
  .meta({ description: '`length`: the answer reached max_tokens or the end of the context window.' });

const TokenIds = z.array(z.int());

const Choice = z.object({
  index: z.int().meta({ description: 'Numbered across all prompts: the `n` choices of the first prompt, then those of the second.' }),
  text: z.string(),
  logprobs: PlainLogprobs,
  finish_reason: FinishReason,
  stop_reason: z.string().nullable().meta({ description: 'The stop string that ended the answer, or the decimal id of the stop token.' }),
  token_ids: TokenIds.nullable().meta({ description: 'With `return_token_ids`: the token ids of the answer.' }),
  prompt_token_ids: TokenIds.nullable().meta({
    description: "With `return_token_ids`: the token ids of the choice's prompt, if the runtime returns them.",
  }),
});

const head = {
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  model: z.string(),
};

/** A response without streaming. */
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
  choices: z.array(StreamChoice).meta({ description: 'One choice, or none in the event with the usage.' }),
  usage: UsageInfo.nullish().meta({
    description: 'With `stream_options.include_usage`: set in the last event before `[DONE]`, null in all others.',
  }),
  perf_metrics: PerfMetrics.optional().meta({ description: 'With `perf_metrics_in_response`: in the last event that ends a choice.' }),
});
