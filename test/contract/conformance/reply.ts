import * as z from 'zod';

const Call = z.object({ name: z.string(), arguments: z.string() });
export type Call = z.infer<typeof Call>;

const Likely = z.object({ token: z.string(), logprob: z.number() });
const TokenLogprob = Likely.extend({ top_logprobs: z.array(Likely).nullish() });
export type TokenLogprob = z.infer<typeof TokenLogprob>;

const Choice = z
  .object({
    index: z.int(),
    message: z.object({
      content: z.string().nullable(),
      reasoning: z.string().nullable(),
      tool_calls: z.array(z.object({ function: Call })).optional(),
      function_call: Call.optional(),
    }),
    finish_reason: z.string().nullable(),
    stop_reason: z.string().nullable(),
    logprobs: z.object({ content: z.array(TokenLogprob) }).nullable(),
    token_ids: z.array(z.int()).nullable(),
  })
  .transform(({ index, message: { content, reasoning, tool_calls, function_call }, finish_reason, stop_reason, logprobs, token_ids }) => ({
    index,
    content: content ?? '',
    reasoning: reasoning ?? '',
    /** All that the model wrote, since a model that thinks may have no tokens left for its answer. */
    text: (reasoning ?? '') + (content ?? ''),
    calls: (tool_calls ?? []).map((call) => call.function),
    functionCall: function_call ?? null,
    finishReason: finish_reason,
    stopReason: stop_reason,
    logprobs: logprobs?.content ?? [],
    tokenIds: token_ids ?? [],
  }));
export type Choice = z.output<typeof Choice>;

/** The parts of a caller's reply that the checks read. */
export const CallersReply = z
  .object({
    choices: z.tuple([Choice], Choice),
    usage: z.object({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      prompt_tokens_details: z.object({ cached_tokens: z.int().nullish() }).optional(),
    }),
    prompt_token_ids: z.array(z.int()).nullable(),
  })
  .transform(({ choices, usage, prompt_token_ids }) => ({
    choices,
    ...choices[0],
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    /** Prompt tokens that were found in the cache; null if the container does not report them. */
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? null,
    promptTokenIds: prompt_token_ids ?? [],
  }));

export type Reply = z.output<typeof CallersReply> & {
  /** The body that was sent to the container. */
  sent: Readonly<Record<string, unknown>>;
  /** The number of chunks that had a part of the answer. */
  chunks: number;
  /** The container reported usage; if not, the prompt tokens are 0. */
  hasUsage: boolean;
};
