import * as z from 'zod';
import { Message, messageOrderFault } from './message.ts';
import { FunctionCall, Functions, functionsOf, ToolChoice, Tools, toolFault } from './tool.ts';

const MAX_MESSAGES = 4_096;
const MAX_METADATA_BYTES = 16 * 1024;
const MAX_BIASES = 1_024;
const MAX_TOKEN_IDS = 1_024;
/** Beyond this no draft text is worth reading. */
const MAX_DRAFT_ITEMS = 131_072;
const INT64 = 2 ** 63;

const Share = z.number().min(0).max(1).nullish();
const Penalty = z.number().min(-2).max(2).nullish();
const Count = z.int().min(1).nullish();
const Switch = z.boolean().nullish();
const TokenIds = z.array(z.int().min(0)).max(MAX_TOKEN_IDS).nullish();

const StopString = z.string().min(1).max(256);
const Stop = z.union([StopString, z.array(StopString).max(4)], {
  error: 'expected a string or an array of up to 4 strings, each of 1 to 256 characters',
});

const Seed = z.number().refine((seed) => Number.isInteger(seed) && Math.abs(seed) <= INT64, 'expected an integer of 64 bits');

const LogitBias = z
  .record(z.string().regex(/^\d{1,9}$/, 'expected token ids as keys'), z.number().min(-100).max(100))
  .refine((bias) => Object.keys(bias).length <= MAX_BIASES, `expected at most ${MAX_BIASES} token ids`);

const Metadata = z
  .record(z.string(), z.unknown())
  .refine(
    (metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES,
    `expected at most ${MAX_METADATA_BYTES} bytes of JSON`,
  );

const Prediction = z.union(
  [
    z.string(),
    z.looseObject({
      type: z.literal('content').default('content'),
      content: z.union([z.string(), z.array(z.record(z.string(), z.unknown())).max(MAX_DRAFT_ITEMS)]),
    }),
  ],
  { error: 'expected a string or { "type": "content", "content": … }' },
);

const ReasoningEffort = z.union([z.enum(['low', 'medium', 'high', 'none']), z.int().min(1), z.boolean()], {
  error: "expected 'low', 'medium', 'high' or 'none', a number of tokens from 1, or a boolean",
});

const Thinking = z.discriminatedUnion(
  'type',
  [z.looseObject({ type: z.literal('enabled'), budget_tokens: Count }), z.looseObject({ type: z.literal('disabled') })],
  { error: `expected { "type": "enabled" } or { "type": "disabled" }` },
);

const NO_SCHEMA =
  'json_schema is not accepted: send { "type": "json_object" } and describe the object in a message, or send a function tool with the schema as its parameters and "tool_choice": "required"';

const ResponseFormat = z.strictObject({
  type: z.enum(['json_object', 'text'], {
    error: ({ input }) => (input === 'json_schema' ? NO_SCHEMA : "expected 'json_object' or 'text'"),
  }),
});

/** As OpenAI defines it, where the deployer has switched structured outputs on. */
const StructuredResponseFormat = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('json_object') }),
    z.strictObject({ type: z.literal('text') }),
    z.strictObject({
      type: z.literal('json_schema'),
      json_schema: z.strictObject({
        name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1 to 64 letters, digits, underscores and dashes'),
        description: z.string().nullish(),
        schema: z.record(z.string(), z.unknown()).nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
  ],
  { error: "expected 'json_object', 'json_schema' or 'text'" },
);

/** The properties of interface 2.1, in its order. */
const documented = {
  model: z.string().min(1).max(256),
  messages: z.array(Message).min(1, 'expected at least one message').max(MAX_MESSAGES),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: Share,
  max_tokens: Count,
  /** The newer name; it wins when both are set. */
  max_completion_tokens: Count,
  n: z.int().min(1).max(16).nullish(),
  stop: Stop.nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: Share,
  typical_p: Share,
  seed: Seed.nullish(),
  repetition_penalty: z.number().gt(0).max(2).nullish(),
  mirostat_target: z.number().min(0).nullish(),
  mirostat_lr: z.number().min(0).nullish(),
  stream: Switch,
  stream_options: z.looseObject({ include_usage: Switch }).nullish(),
  response_format: z.union([ResponseFormat, StructuredResponseFormat]).nullish(),
  tools: Tools.nullish(),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: Switch,
  presence_penalty: Penalty,
  frequency_penalty: Penalty,
  logprobs: Switch,
  top_logprobs: z.int().min(0).max(20).nullish(),
  logit_bias: LogitBias.nullish(),
  user: z.string().max(512).nullish(),
  metadata: Metadata.nullish(),
  prompt_truncate_len: Count,
  context_length_exceeded_behavior: z.enum(['truncate', 'error']).nullish(),
  return_token_ids: Switch,
  prompt_cache_isolation_key: z.string().max(256).nullish(),
  raw_output: Switch,
  perf_metrics_in_response: Switch,
  echo: Switch,
  echo_last: z.int().min(0).nullish(),
  ignore_eos: Switch,
  speculation: z
    .union([z.string(), z.array(z.int()).max(MAX_DRAFT_ITEMS)], { error: 'expected a string or an array of token ids' })
    .nullish(),
  prediction: Prediction.nullish(),
  reasoning_effort: ReasoningEffort.nullish(),
  reasoning_history: z.enum(['disabled', 'interleaved', 'preserved']).nullish(),
  thinking: Thinking.nullish(),
  functions: Functions.nullish(),
  function_call: FunctionCall.nullish(),
};

/** Properties beyond the interface that a dialect may pass on; checked here, so that a runtime never sees a wrong type. */
const extras = {
  min_tokens: z.int().min(0).nullish(),
  stop_token_ids: TokenIds,
  include_stop_str_in_output: Switch,
  skip_special_tokens: Switch,
  bad_words: z.array(z.string().min(1).max(256)).max(MAX_TOKEN_IDS).nullish(),
  allowed_token_ids: TokenIds,
};

const AnyChatCompletionRequest = z.looseObject({ ...documented, ...extras });

/** The chat completion request: unknown properties are accepted at every level but in `response_format`, and go nowhere. */
export type ChatCompletionRequest = z.output<typeof AnyChatCompletionRequest>;

export type ChatField = keyof typeof documented;
export type ChatExtra = keyof typeof extras;

/** The names of interface 2.1. */
export const chatFields = Object.keys(documented) as ChatField[];

interface Fault {
  path: PropertyKey[];
  message: string;
}

/** What no property alone shows: the first contradiction between them. */
const contradiction = (request: ChatCompletionRequest): Fault | undefined => {
  const { stream, stream_options, logprobs, top_logprobs, n, temperature, thinking, reasoning_effort, min_tokens } = request;
  const fault = (path: string, message: string): Fault => ({ path: [path], message });
  if (stream_options && !stream) return fault('stream_options', 'stream_options is only valid when stream is true');
  if (top_logprobs != null && !logprobs) return fault('top_logprobs', 'top_logprobs is only valid when logprobs is true');
  if ((n ?? 1) !== 1 && temperature != null && temperature < GREEDY_BELOW)
    return fault('n', 'n must be 1 when temperature is 0: every choice would be the same');
  if (thinking && reasoning_effort != null) return fault('thinking', 'send either thinking or reasoning_effort, not both');
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  if (min_tokens != null && maxTokens != null && min_tokens > maxTokens)
    return fault('min_tokens', `expected at most max_tokens, which is ${maxTokens}`);
  return toolFault(request) ?? messageOrderFault(request.messages);
};

/** Runtimes take any temperature below this for greedy sampling. */
export const GREEDY_BELOW = 1e-5;

/**
 * The schema of a chat completion request.
 * @param structuredOutputs whether `response_format` may be OpenAI's `json_schema`; the interface itself refuses it
 */
export const chatCompletionRequest = (structuredOutputs: boolean): z.ZodType<ChatCompletionRequest> =>
  AnyChatCompletionRequest.extend({
    response_format: (structuredOutputs ? StructuredResponseFormat : ResponseFormat).nullish(),
  }).superRefine((request, context) => {
    const fault = contradiction(request);
    if (fault) context.addIssue({ code: 'custom', ...fault });
  });

/** Whether the request has tools, in today's words or in the deprecated ones. */
export const hasTools = (request: ChatCompletionRequest): boolean => functionsOf(request).length > 0;
