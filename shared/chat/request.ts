import * as z from 'zod';

/** Text as clients send it: a string, or parts of which only text is taken. */
const Content = z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() })).max(4_096)], {
  error: 'expected a string or an array of text parts ({ "type": "text", "text": … })',
});

/** A call in an assistant's turn as clients replay it (interface 2.2). */
export const ToolCall = z.looseObject({
  id: z.string().nullish(),
  type: z.literal('function').default('function'),
  function: z.looseObject({ name: z.string().nullable(), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullable() }),
});

export type ToolCall = z.infer<typeof ToolCall>;

export const Message = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: Content.nullish(),
    name: z.string().nullish(),
    tool_call_id: z.string().nullish(),
    tool_calls: z.array(ToolCall).max(128).nullish(),
  })
  .refine((message) => typeof message.content === 'string' || Array.isArray(message.content) || message.role === 'assistant', {
    error: 'expected a string: only an assistant message may come without content',
    path: ['content'],
  });
export type Message = z.infer<typeof Message>;

const MAX_METADATA_BYTES = 16 * 1024;
const MaxTokens = z.int().min(1).nullish();

/** The chat completion request (interface 2.1): unknown properties are accepted at every level and go nowhere. */
export const ChatCompletionRequest = z
  .looseObject({
    model: z.string().min(1).max(256),
    messages: z.array(Message).min(1, 'expected at least one message').max(4_096),
    max_tokens: MaxTokens,
    /** The newer name; it wins when both are set. */
    max_completion_tokens: MaxTokens,
    temperature: z.number().min(0).max(2).nullish(),
    /** Any int64; beyond 2^53 JSON numbers lose digits, which changes the sample and nothing else. */
    seed: z.number().refine(Number.isInteger, 'expected an integer').nullish(),
    stop: z
      .union([z.string().min(1).max(256), z.array(z.string().min(1).max(256)).max(4)], {
        error: 'expected a string or an array of up to 4 strings, each of 1 to 256 characters',
      })
      .nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    user: z.string().max(512).nullish(),
    metadata: z
      .record(z.string(), z.unknown())
      .refine((metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES, {
        error: `expected at most ${MAX_METADATA_BYTES} bytes of JSON`,
      })
      .nullish(),
  })
  .refine((request) => !request.stream_options || request.stream === true, {
    error: 'stream_options is only valid when stream is true',
    path: ['stream_options'],
  });
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/** The properties that have an effect; what else a caller sends is named in `x-sluice-ignored`. */
export const chatCompletionFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'user',
  'metadata',
]);
