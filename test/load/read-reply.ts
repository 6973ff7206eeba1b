import * as z from 'zod';
import { readEvents } from '../support/clients/server-sent-events.ts';
import type { Question, Tokens } from './question.ts';

/** The content that a caller reads from a reply. */
export interface Content {
  /** Every id that occurs in it. */
  ids: string[];
  text: string;
  /** undefined: the reply doesn't tell them. */
  tokens: Tokens | undefined;
  /** The reply ends as it must. */
  isWhole: boolean;
  /** The nonce that the reply repeats, on the routes that do. */
  nonce?: string | undefined;
}

const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }).nullish();
const Text = z.object({ content: z.string().nullish() });
const Completion = z.object({
  id: z.string(),
  choices: z.array(
    z.object({ text: z.string().optional(), delta: Text.optional(), message: Text.optional(), finish_reason: z.string().nullish() }),
  ),
  usage: Usage,
});

const Response = z.object({
  id: z.string(),
  status: z.string(),
  output: z.array(z.object({ content: z.array(z.object({ text: z.string() })) })),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }).nullish(),
  metadata: z.record(z.string(), z.string()),
});
const ResponseEvent = z.object({ response: Response.optional(), delta: z.string().optional() });

// A chat or text completion, in one part or in many.
const readCompletion = (parts: readonly unknown[], isEnded: boolean): Content => {
  const chunks = parts.map((part) => Completion.parse(part));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const usage = chunks.at(-1)?.usage;
  return {
    ids: [...new Set(chunks.map(({ id }) => id))],
    text: choices.map(({ text, delta, message }) => text ?? delta?.content ?? message?.content ?? '').join(''),
    tokens: usage ? { prompt: usage.prompt_tokens, completion: usage.completion_tokens } : undefined,
    isWhole: isEnded && choices.some(({ finish_reason }) => typeof finish_reason === 'string'),
  };
};

const ENDED = ['completed', 'incomplete'];

const readResponse = (response: z.infer<typeof Response>): Content => ({
  ids: [response.id],
  text: response.output.flatMap(({ content }) => content.map(({ text }) => text)).join(''),
  tokens: response.usage ? { prompt: response.usage.input_tokens, completion: response.usage.output_tokens } : undefined,
  isWhole: ENDED.includes(response.status),
  nonce: response.metadata.nonce,
});

// The text is that of the deltas; the last event must repeat it.
const readResponseStream = (parts: readonly unknown[]): Content => {
  const events = parts.map((part) => ResponseEvent.parse(part));
  const text = events.map(({ delta }) => delta ?? '').join('');
  const responses = events.flatMap(({ response }) => (response ? [readResponse(response)] : []));
  const last = responses.at(-1);
  return {
    ids: [...new Set(responses.flatMap(({ ids }) => ids))],
    text,
    tokens: last?.tokens,
    isWhole: last?.isWhole === true && last.text === text,
    nonce: responses[0]?.nonce,
  };
};

const TokenList = z.object({ count: z.int(), tokens: z.array(z.int()) });

const END_OF_EVENT = '\n\n';

/**
 * Reads the reply to a question. A list of tokens or models is its own text.
 * @throws Error if the reply has not the shape of its route
 */
export const readReply = ({ route, isStream }: Pick<Question, 'route' | 'isStream'>, body: string): Content => {
  if (route === 'models') return { ids: [], text: body, tokens: undefined, isWhole: true };
  if (route === 'tokenize') {
    const { count, tokens } = TokenList.parse(JSON.parse(body));
    return { ids: [], text: tokens.join(), tokens: { prompt: 0, completion: 0 }, isWhole: count === tokens.length };
  }
  if (!isStream) return route === 'responses' ? readResponse(Response.parse(JSON.parse(body))) : readCompletion([JSON.parse(body)], true);
  // A caller that disconnects can have half an event.
  const { events, isDone } = readEvents(body.slice(0, body.lastIndexOf(END_OF_EVENT) + END_OF_EVENT.length));
  const parts = events.map(({ data }) => data);
  return route === 'responses' ? readResponseStream(parts) : readCompletion(parts, isDone);
};
