import * as z from 'zod';

// The API reference documents these responses and tests check them; reply-whole.ts and reply-stream.ts create them.
// Every object can get more fields.

const TextBlock = z.object({ type: z.literal('text'), text: z.string() });
const ThinkingBlock = z.object({
  type: z.literal('thinking'),
  thinking: z.string().meta({ description: 'The reasoning that a reasoning model wrote before its answer, or between calls.' }),
  signature: z.string().meta({ description: 'Without a meaning. Requests can send it back or leave it out.' }),
});
const ToolUseBlock = z.object({
  type: z.literal('tool_use'),
  id: z.string().meta({ description: 'The id that the `tool_result` refers to.' }),
  name: z.string(),
  input: z.record(z.string(), z.unknown()).meta({
    description: 'The arguments of the call. Text that is not a JSON object is in the key `_raw`.',
  }),
});
const ContentBlock = z.discriminatedUnion('type', [TextBlock, ThinkingBlock, ToolUseBlock]);

const StopReason = z
  .enum(['end_turn', 'max_tokens', 'model_context_window_exceeded', 'refusal', 'stop_sequence', 'tool_use'])
  .meta({ description: '`max_tokens`: the answer reached max_tokens. `model_context_window_exceeded`: it reached the end of the window.' });
const StopSequence = z.string().nullable().meta({ description: 'The stop sequence that ended the answer.' });

/** The usage of a message. */
export const MessageUsage = z.object({
  input_tokens: z.int().meta({ description: 'The tokens of the prompt that were not read from the prompt cache.' }),
  cache_creation_input_tokens: z.literal(0).meta({
    description: 'Always 0: tokens that the runtime writes to its prompt cache have no price of their own and are part of `input_tokens`.',
  }),
  cache_read_input_tokens: z.int().meta({ description: 'The tokens of the prompt that the runtime read from its prompt cache.' }),
  cache_creation: z.object({ ephemeral_5m_input_tokens: z.literal(0), ephemeral_1h_input_tokens: z.literal(0) }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ thinking_tokens: z.int() }),
  server_tool_use: z.null(),
  service_tier: z.literal('standard'),
});

const message = {
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string().meta({ description: 'The name of the model, also if the request used an alias.' }),
};

/** A message without streaming. */
export const MessageReply = z.object({
  ...message,
  content: z.array(ContentBlock).meta({ description: 'Empty if the model wrote nothing.' }),
  stop_reason: StopReason,
  stop_sequence: StopSequence,
  usage: MessageUsage,
});

const NewMessage = z.object({
  ...message,
  content: z.array(ContentBlock).max(0),
  stop_reason: z.null(),
  stop_sequence: z.null(),
  usage: MessageUsage.meta({ description: 'Preliminary: the tokens of the prompt can be estimated.' }),
});

const Delta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string().meta({ description: 'The last delta of a thinking block.' }) }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string().meta({ description: 'A part of the input, as JSON.' }) }),
]);

const index = z.int().min(0);

/** An event of a stream, with its name in `type`. */
export const MessageStreamEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: NewMessage }),
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('content_block_start'), index, content_block: ContentBlock }),
  z.object({ type: z.literal('content_block_delta'), index, delta: Delta }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: StopReason, stop_sequence: StopSequence }),
    usage: MessageUsage,
  }),
  z.object({ type: z.literal('message_stop') }),
]);

/** The reply to a request to count tokens. */
export const InputTokens = z.object({ input_tokens: z.int() });
