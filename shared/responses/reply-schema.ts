import * as z from 'zod';
import { ListedItem } from './listed-item-schema.ts';
import { OutputItemReply, OutputText, ReasoningText, ScoredTokens, SummaryText } from './output-item-schema.ts';

// The responses as the API reference documents them and the tests check them. Every object may get more fields.

const CacheWrites = z
  .literal(0)
  .meta({ description: 'Always 0: tokens that the runtime writes to its prompt cache have no price of their own.' });

const Usage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cache_write_tokens: CacheWrites, cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

const FunctionTool = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});

// As the caller has sent them.
const ClientTool = z.looseObject({
  type: z.enum(['custom', 'namespace', 'tool_search', 'local_shell']),
  name: z.string().optional(),
  description: z.string().nullish(),
  format: z.looseObject({ type: z.string(), syntax: z.string().nullish(), definition: z.string().nullish() }).nullish(),
  tools: z.array(z.record(z.string(), z.unknown())).optional(),
  execution: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

const Format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string(),
    description: z.string().nullish(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullish(),
  }),
]);

/** A response (interface 2.5): without streaming, as it is stored, and in the first and last events of a stream. */
export const ResponseReply = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  completed_at: z.int().nullable().meta({ description: 'Unix time in seconds; null unless the status is `completed`.' }),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  background: z.literal(false),
  conversation: z.null(),
  error: z.object({ code: z.string(), message: z.string() }).nullable().meta({ description: 'With the status `failed`.' }),
  incomplete_details: z
    .object({ reason: z.enum(['max_output_tokens', 'content_filter']) })
    .nullable()
    .meta({ description: 'With the status `incomplete`.' }),
  model: z.string(),
  output: z.array(OutputItemReply),
  access_programs: z.null(),
  frequency_penalty: z.literal(0),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.null(),
  metadata: z.record(z.string(), z.unknown()),
  moderation: z.null(),
  parallel_tool_calls: z.boolean(),
  presence_penalty: z.literal(0),
  previous_response_id: z.string().nullable(),
  prompt: z.null(),
  prompt_cache_key: z.string().nullable(),
  prompt_cache_retention: z.null(),
  reasoning: z.object({
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullable(),
    summary: z.enum(['auto', 'concise', 'detailed']).nullable(),
  }),
  safety_identifier: z.null(),
  service_tier: z.literal('default'),
  temperature: z.number().meta({ description: "The request's own, or the model's default." }),
  text: z.object({ format: Format }),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.enum(['function', 'custom']), name: z.string() })]),
  tools: z
    .array(z.discriminatedUnion('type', [FunctionTool, ClientTool]))
    .meta({ description: 'The tools of the request, without those that do not run here.' }),
  top_logprobs: z.int(),
  top_p: z.number().meta({ description: "The request's own, or the model's default." }),
  truncation: z.enum(['auto', 'disabled']),
  user: z.string().optional(),
  store: z.boolean().meta({ description: 'Whether the response is stored, so that it can be retrieved and continued.' }),
  usage: Usage.nullable().meta({ description: 'Null while the response is in progress, and if it failed.' }),
});

/** The reply to a deletion. */
export const DeletedResponse = z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) });

/** A page of the input items of a response. */
export const InputItemList = z.object({
  object: z.literal('list'),
  data: z.array(ListedItem),
  first_id: z.string().nullable(),
  last_id: z.string().nullable().meta({ description: 'To get the next page, send this as `after`.' }),
  has_more: z.boolean(),
});

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), sequence_number: z.int().min(0), ...shape });

const ofResponse = { response: ResponseReply };
const ofItem = { output_index: z.int(), item: OutputItemReply };
const inItem = { item_id: z.string(), output_index: z.int() };
const inPart = { ...inItem, content_index: z.int() };
const inSummary = { ...inItem, summary_index: z.int() };
const ofPart = { ...inPart, part: z.discriminatedUnion('type', [OutputText, ReasoningText]) };

/** An event of a stream, with its name in `type`. */
export const ResponseStreamEvent = z.discriminatedUnion('type', [
  event('response.created', ofResponse),
  event('response.in_progress', ofResponse),
  event('response.output_item.added', ofItem),
  event('response.content_part.added', ofPart),
  event('response.output_text.delta', { ...inPart, delta: z.string(), logprobs: ScoredTokens }),
  event('response.output_text.done', { ...inPart, text: z.string(), logprobs: ScoredTokens }),
  event('response.reasoning_text.delta', { ...inPart, delta: z.string() }),
  event('response.reasoning_text.done', { ...inPart, text: z.string() }),
  event('response.content_part.done', ofPart),
  event('response.reasoning_summary_part.added', { ...inSummary, part: SummaryText }),
  event('response.reasoning_summary_text.delta', { ...inSummary, delta: z.string() }),
  event('response.reasoning_summary_text.done', { ...inSummary, text: z.string() }),
  event('response.reasoning_summary_part.done', { ...inSummary, part: SummaryText }),
  event('response.function_call_arguments.delta', { ...inItem, delta: z.string() }),
  event('response.function_call_arguments.done', { ...inItem, name: z.string(), arguments: z.string() }),
  event('response.custom_tool_call_input.delta', { ...inItem, delta: z.string() }),
  event('response.custom_tool_call_input.done', { ...inItem, input: z.string() }),
  event('response.output_item.done', ofItem),
  event('response.completed', ofResponse),
  event('response.incomplete', ofResponse),
  event('response.failed', ofResponse),
]);
