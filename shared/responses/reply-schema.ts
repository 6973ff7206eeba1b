import * as z from 'zod';

// The responses as the API reference documents them and the tests check them. Every object may get more fields.

const scored = {
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullish().meta({ description: 'The UTF-8 bytes of the token. A token can be a part of a character.' }),
};
const Logprobs = z.array(z.looseObject({ ...scored, top_logprobs: z.array(z.looseObject(scored)) }));

const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.looseObject({})).max(0),
  logprobs: Logprobs.meta({ description: 'Empty unless requested.' }),
});
const ReasoningText = z.object({ type: z.literal('reasoning_text'), text: z.string() });
const SummaryText = z.object({ type: z.literal('summary_text'), text: z.string() });

const ItemStatus = z
  .enum(['in_progress', 'completed', 'incomplete'])
  .meta({ description: '`incomplete`: the answer ended before this item was complete.' });

const OutputMessage = z.object({
  id: z.string(),
  type: z.literal('message'),
  status: ItemStatus,
  role: z.literal('assistant'),
  content: z.array(OutputText),
});

const OutputReasoning = z.object({
  id: z.string(),
  type: z.literal('reasoning'),
  status: ItemStatus,
  summary: z.array(SummaryText).meta({ description: 'The reasoning, if the request has `reasoning.summary`; empty otherwise.' }),
  content: z.array(ReasoningText).optional().meta({ description: 'The reasoning, if the request has no `reasoning.summary`.' }),
});

const OutputCall = z.object({
  id: z.string(),
  type: z.literal('function_call'),
  status: ItemStatus,
  call_id: z.string().meta({ description: 'The id that the `function_call_output` refers to.' }),
  name: z.string(),
  arguments: z.string().meta({ description: 'JSON as the model wrote it.' }),
});

const OutputItem = z.discriminatedUnion('type', [OutputMessage, OutputReasoning, OutputCall]);

const Usage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
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
  output: z.array(OutputItem),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.null(),
  metadata: z.record(z.string(), z.unknown()),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.string().nullable(),
  prompt: z.null(),
  prompt_cache_key: z.string().nullable(),
  prompt_cache_retention: z.null(),
  reasoning: z.object({
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullable(),
    summary: z.enum(['auto', 'concise', 'detailed']).nullable(),
  }),
  safety_identifier: z.null(),
  service_tier: z.null(),
  temperature: z.number().meta({ description: 'The request’s own, or the model’s default.' }),
  text: z.object({ format: Format }),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.literal('function'), name: z.string() })]),
  tools: z.array(FunctionTool).meta({ description: 'The function tools of the request; tools of other types are left out.' }),
  top_logprobs: z.int(),
  top_p: z.number().meta({ description: 'The request’s own, or the model’s default.' }),
  truncation: z.enum(['auto', 'disabled']),
  user: z.string().optional(),
  store: z.boolean().meta({ description: 'Whether the response is stored, so that it can be retrieved and continued.' }),
  usage: Usage.nullable().meta({ description: 'Null while the response is in progress, and if it failed.' }),
});

/** The reply to a deletion. */
export const DeletedResponse = z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) });

const listed = {
  id: z.string().meta({ description: 'The id that the caller sent, or a generated one.' }),
  status: z.string().nullable().meta({ description: 'The status that the caller sent, or `completed`.' }),
};
const Parts = z.array(
  z.union([
    z.looseObject({
      type: z.enum(['input_text', 'output_text', 'text']),
      text: z.string(),
      annotations: z.array(z.looseObject({})).nullish(),
      logprobs: z.array(z.looseObject({})).nullish(),
    }),
    z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  ]),
);
const Thoughts = z.array(z.looseObject({ type: z.string().optional(), text: z.string() })).nullish();

const ListedItem = z.discriminatedUnion('type', [
  z.looseObject({
    ...listed,
    type: z.literal('message'),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: Parts,
  }),
  z.looseObject({ ...listed, type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.looseObject({ ...listed, type: z.literal('function_call_output'), call_id: z.string(), output: z.union([z.string(), Parts]) }),
  z.looseObject({ ...listed, type: z.literal('reasoning'), summary: Thoughts, content: Thoughts }),
]);

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
const ofItem = { output_index: z.int(), item: OutputItem };
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
  event('response.output_text.delta', { ...inPart, delta: z.string(), logprobs: Logprobs }),
  event('response.output_text.done', { ...inPart, text: z.string(), logprobs: Logprobs }),
  event('response.reasoning_text.delta', { ...inPart, delta: z.string() }),
  event('response.reasoning_text.done', { ...inPart, text: z.string() }),
  event('response.content_part.done', ofPart),
  event('response.reasoning_summary_part.added', { ...inSummary, part: SummaryText }),
  event('response.reasoning_summary_text.delta', { ...inSummary, delta: z.string() }),
  event('response.reasoning_summary_text.done', { ...inSummary, text: z.string() }),
  event('response.reasoning_summary_part.done', { ...inSummary, part: SummaryText }),
  event('response.function_call_arguments.delta', { ...inItem, delta: z.string() }),
  event('response.function_call_arguments.done', { ...inItem, name: z.string(), arguments: z.string() }),
  event('response.output_item.done', ofItem),
  event('response.completed', ofResponse),
  event('response.incomplete', ofResponse),
  event('response.failed', ofResponse),
]);
