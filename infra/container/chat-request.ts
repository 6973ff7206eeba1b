import * as z from 'zod';
import { BadRequest, NotFound } from './errors.ts';
import type { GenerationRequest } from './generate.ts';
import type { ChatMessage, ContainerTokenizer } from './tokenizer.ts';

const DEFAULT_TEMPERATURE = 1;
const MOST_STOPS = 4;

// Not z.int(): a seed may be any int64, and JSON.parse has already rounded it.
const Integer = z.number().refine(Number.isInteger, 'Input should be a valid integer');

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]);
const ToolCall = z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.string() }) });
const Message = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: Content.nullish(),
  tool_calls: z.array(ToolCall).nullish(),
});

/** The chat completion body, as far as this container reads it; vLLM accepts unknown fields, so they pass. */
export const ChatRequest = z
  .looseObject({
    model: z.string().nullish(),
    messages: z.array(Message).min(1),
    max_tokens: Integer.nullish(),
    max_completion_tokens: Integer.nullish(),
    temperature: z.number().nullish(),
    seed: Integer.nullish(),
    stop: z.union([z.string(), z.array(z.string())]).nullish(),
    n: Integer.nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  })
  .refine(({ stream, stream_options }) => !stream_options || stream, 'Stream options can only be defined when `stream=True`.');
export type ChatRequest = z.infer<typeof ChatRequest>;

export type ChatLimits = { modelName: string; windowTokens: number };

/**
 * A body that fits the schema in, what to generate out. Throws `NotFound` for another model's name, `BadRequest` for a value
 * out of range or for a prompt and `max_tokens` that do not fit the window together.
 */
export function planGeneration(
  body: ChatRequest,
  tokenizer: ContainerTokenizer,
  { modelName, windowTokens }: ChatLimits,
): GenerationRequest {
  if (body.model && body.model !== modelName) throw new NotFound(`The model \`${body.model}\` does not exist.`, 'model');
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const temperature = body.temperature ?? DEFAULT_TEMPERATURE;
  const stops = typeof body.stop === 'string' ? [body.stop] : (body.stop ?? []);
  checkRanges(body.n ?? 1, maxTokens ?? 1, temperature, stops);
  const prompt = tokenizer.encodeChat(body.messages.map(toChatMessage));
  return { prompt, maxTokens: fitWindow(prompt.length, maxTokens, windowTokens), temperature, seed: body.seed ?? undefined, stops };
}

function checkRanges(n: number, maxTokens: number, temperature: number, stops: readonly string[]): void {
  if (n !== 1) throw new BadRequest(`n must be 1, got ${n}.`);
  if (maxTokens < 1) throw new BadRequest(`max_tokens must be at least 1, got ${maxTokens}.`);
  if (temperature < 0 || temperature > 2) throw new BadRequest(`temperature must be in [0, 2], got ${temperature}.`);
  if (stops.length > MOST_STOPS) throw new BadRequest(`stop must have at most ${MOST_STOPS} strings, got ${stops.length}.`);
  if (stops.includes('')) throw new BadRequest('stop cannot contain an empty string.');
}

function fitWindow(promptTokens: number, maxTokens: number | null | undefined, windowTokens: number): number {
  const window = `This model's maximum context length is ${windowTokens} tokens. However,`;
  const requested = promptTokens + (maxTokens ?? 0);
  if (promptTokens >= windowTokens) {
    throw new BadRequest(`${window} your request has ${promptTokens} input tokens. Please reduce the length of the input messages.`);
  }
  if (requested > windowTokens) {
    const parts = `${promptTokens} in the messages, ${maxTokens} in the completion`;
    throw new BadRequest(`${window} you requested ${requested} tokens (${parts}). Please reduce the length of the messages or completion.`);
  }
  return maxTokens ?? windowTokens - promptTokens;
}

const toChatMessage = ({ role, content, tool_calls }: z.infer<typeof Message>): ChatMessage => ({
  role,
  content: typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n'),
  ...(tool_calls && { tool_calls }),
});
