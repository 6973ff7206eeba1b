import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { modelsFault, RequestedModels } from '../fallback/requested-models.ts';
import { anyObject } from './any-object.ts';
import { pairCalls } from './call-ids.ts';
import { Messages } from './message.ts';
import { Count, Switch, samplingExtras, samplingFault, samplingFields } from './sampling-fields.ts';
import { AnySchema, FunctionCall, FunctionName, Functions, functionsOf, ToolChoice, Tools, toolFault } from './tool.ts';

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_DRAFT_ITEMS = 131_072;
/** An object that the caller defines; it is stored with the usage event. */
export const Metadata = anyObject().refine(
  (metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES,
  `expected at most ${MAX_METADATA_BYTES} bytes of JSON`,
);

const Prediction = z.union(
  [
    z.string(),
    z.looseObject({
      type: z.literal('content').default('content'),
      content: z.union([z.string(), firstFault(z.array(anyObject()).max(MAX_DRAFT_ITEMS))]),
    }),
  ],
  { error: 'expected a string or { "type": "content", "content": … }' },
);

const ReasoningEffort = z.union([z.enum(['low', 'medium', 'high', 'none']), z.int().min(1), z.boolean()], {
  error: "expected 'low', 'medium', 'high' or 'none', a number of tokens (at least 1), or a boolean",
});

const Thinking = z.discriminatedUnion(
  'type',
  [z.looseObject({ type: z.literal('enabled'), budget_tokens: Count }), z.looseObject({ type: z.literal('disabled') })],
  { error: `expected { "type": "enabled" } or { "type": "disabled" }` },
);

const ResponseFormat = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('json_object') }),
    z.strictObject({ type: z.literal('text') }),
    z.strictObject({
      type: z.literal('json_schema'),
      json_schema: z.strictObject({
        name: FunctionName,
        description: z.string().nullish(),
        schema: AnySchema,
        strict: z.boolean().nullish(),
      }),
    }),
  ],
  { error: "expected 'json_object', 'json_schema' or 'text'" },
);

export const StreamOptions = z.looseObject({ include_usage: Switch });

// In the order of interface 2.1.
const documented = {
  model: z.string().min(1).max(256),
  messages: Messages,
  temperature: samplingFields.temperature,
  top_p: samplingFields.top_p,
  max_tokens: Count,
  // The newer name; it takes precedence over `max_tokens`.
  max_completion_tokens: Count,
  n: samplingFields.n,
  stop: samplingFields.stop,
  top_k: samplingFields.top_k,
  min_p: samplingFields.min_p,
  typical_p: samplingFields.typical_p,
  seed: samplingFields.seed,
  repetition_penalty: samplingFields.repetition_penalty,
  mirostat_target: samplingFields.mirostat_target,
  mirostat_lr: samplingFields.mirostat_lr,
  stream: Switch,
  stream_options: StreamOptions.nullish(),
  response_format: ResponseFormat.nullish(),
  tools: Tools.nullish(),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: Switch,
  presence_penalty: samplingFields.presence_penalty,
  frequency_penalty: samplingFields.frequency_penalty,
  logprobs: Switch,
  top_logprobs: z.int().min(0).max(20).nullish(),
  logit_bias: samplingFields.logit_bias,
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
  ignore_eos: samplingFields.ignore_eos,
  speculation: z
    .union([z.string(), firstFault(z.array(z.int()).max(MAX_DRAFT_ITEMS))], { error: 'expected a string or an array of token ids' })
    .nullish(),
  prediction: Prediction.nullish(),
  reasoning_effort: ReasoningEffort.nullish(),
  reasoning_history: z.enum(['disabled', 'interleaved', 'preserved']).nullish(),
  thinking: Thinking.nullish(),
  functions: Functions.nullish(),
  function_call: FunctionCall.nullish(),
  models: RequestedModels,
};

const ChatBody = z.looseObject({ ...documented, ...samplingExtras });

/** The chat completion request. Unknown fields are accepted everywhere except in `response_format`, and dropped. */
export type ChatCompletionRequest = z.output<typeof ChatBody>;

export type ChatField = keyof typeof documented;
export type ChatExtra = keyof typeof samplingExtras;

export const chatFields = Object.keys(documented) as ChatField[];

interface Fault {
  path: PropertyKey[];
  message: string;
}

/** The caller's token limit for each choice; undefined if the request has none. */
export const maxTokensOf = ({ max_completion_tokens, max_tokens }: ChatCompletionRequest): number | undefined =>
  max_completion_tokens ?? max_tokens ?? undefined;

/** The field that has the caller's token limit. */
export const maxTokensFieldOf = ({ max_completion_tokens }: Pick<ChatCompletionRequest, 'max_completion_tokens'>): string =>
  max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens';

const contradiction = (request: ChatCompletionRequest): Fault | undefined => {
  const { stream, stream_options, logprobs, top_logprobs, thinking, reasoning_effort } = request;
  const fault = (path: string, message: string): Fault => ({ path: [path], message });
  if (stream_options && !stream) return fault('stream_options', 'stream_options is only valid when stream is true');
  if (top_logprobs != null && !logprobs) return fault('top_logprobs', 'top_logprobs is only valid when logprobs is true');
  if (thinking && reasoning_effort != null) return fault('thinking', 'send either thinking or reasoning_effort, not both');
  return (
    modelsFault(request) ??
    samplingFault(request, maxTokensOf(request), maxTokensFieldOf(request)) ??
    toolFault(request) ??
    pairCalls(request.messages).fault
  );
};

/** The schema of a chat completion request. */
export const chatRequest: z.ZodType<ChatCompletionRequest> = ChatBody.superRefine((request, context) => {
  const fault = contradiction(request);
  if (fault) context.addIssue({ code: 'custom', ...fault });
});

/** True if the request has `tools` or the deprecated `functions`. */
export const hasTools = (request: ChatCompletionRequest): boolean => functionsOf(request).length > 0;
