import * as z from 'zod';

// Not z.int(): a seed may be any int64, and JSON.parse has already rounded it.
const Integer = z.number().refine(Number.isInteger, 'Input should be a valid integer');
const Int64 = Integer.min(-(2 ** 63)).max(2 ** 63);
const JsonObject = z.record(z.string(), z.json());

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]);
const ToolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
export const ChatRequestMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Content.nullish(),
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(ToolCall).nullish(),
  tool_call_id: z.string().nullish(),
  name: z.string().nullish(),
});
export type ChatRequestMessage = z.infer<typeof ChatRequestMessage>;

const Tool = z.looseObject({
  type: z.literal('function').optional(),
  function: z.looseObject({ name: z.string(), description: z.string().nullish(), parameters: JsonObject.nullish() }),
});
export type Tool = z.infer<typeof Tool>;
const NamedTool = z.looseObject({ type: z.literal('function').optional(), function: z.looseObject({ name: z.string() }) });

const ResponseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: z.string(),
      schema: JsonObject,
      strict: z.boolean().nullish(),
      description: z.string().nullish(),
    }),
  }),
]);

const SamplingFields = {
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: Integer.nullish(),
  min_p: z.number().nullish(),
  seed: Int64.nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  repetition_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  min_tokens: Integer.optional(),
  bad_words: z.array(z.string()).optional(),
  allowed_token_ids: z.array(Integer).nullish(),
  stop_token_ids: z.array(Integer).nullish(),
};

/** Those of our own dialect `sluice`, which vLLM would pass over; its `echo` means something else. */
const SluiceFields = {
  typical_p: z.number().nullish(),
  mirostat_target: z.number().nullish(),
  mirostat_lr: z.number().nullish(),
  echo: z.boolean().optional(),
  echo_last: Integer.nullish(),
};

const Fields = z.looseObject({
  ...SamplingFields,
  ...SluiceFields,
  model: z.string().nullish(),
  messages: z.array(ChatRequestMessage),
  max_tokens: Integer.nullish(),
  max_completion_tokens: Integer.nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  n: Integer.nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: Integer.nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  response_format: ResponseFormat.nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), NamedTool]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  user: z.string().nullish(),
  include_stop_str_in_output: z.boolean().optional(),
  skip_special_tokens: z.boolean().optional(),
  ignore_eos: z.boolean().optional(),
  return_token_ids: z.boolean().nullish(),
  cache_salt: z.string().nullish(),
  request_id: z.string().optional(),
  reasoning_effort: z.enum(['none', 'low', 'medium', 'high']).nullish(),
  thinking_token_budget: Integer.min(0).nullish(),
  chat_template_kwargs: z.record(z.string(), z.json()).nullish(),
  include_reasoning: z.boolean().optional(),
});

/**
 * The chat completion body as vLLM's `ChatCompletionRequest` has it, as far as this container reads it. Unknown keys pass at
 * every level; null passes where vLLM lets it. What two fields must not be together is told in vLLM's words.
 */
export const ChatRequest = Fields.superRefine((body, context) => {
  const problem = problemOf(body);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});
export type ChatRequest = z.infer<typeof Fields>;

function problemOf({ stream, stream_options, logprobs, top_logprobs, cache_salt, tools, tool_choice }: ChatRequest): string | null {
  if (stream_options && !stream) return 'Stream options can only be defined when `stream=True`.';
  if (typeof top_logprobs === 'number' && top_logprobs < -1) return '`top_logprobs` must be a positive value or -1.';
  if (top_logprobs && !logprobs) return 'when using `top_logprobs`, `logprobs` must be set to true.';
  if (cache_salt === '') return "Parameter 'cache_salt' must be a non-empty string if provided.";
  if (tools?.length === 0) {
    return '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.';
  }
  if (!tool_choice || tool_choice === 'none') return null;
  if (!tools) return 'When using `tool_choice`, `tools` must be set.';
  const known = typeof tool_choice === 'string' || tools.some((tool) => tool.function.name === tool_choice.function.name);
  return known ? null : 'The tool specified in `tool_choice` does not match any of the specified `tools`';
}
