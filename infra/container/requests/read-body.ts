import * as z from 'zod';
import { ChatRequest } from '../chat/request.ts';
import { CompletionRequest } from '../completions/request.ts';
import { BadRequest } from '../errors.ts';
import { TokenizeChat, TokenizePrompt, type TokenizeRequest } from '../tokenization/request.ts';

/** What an invocation turned out to be. */
type Invocation = { kind: 'chat'; request: ChatRequest } | { kind: 'completion'; request: CompletionRequest };

/** vLLM tries each of its request schemas on an invocation, chat first, and does not say which field none of them liked. Throws `BadRequest`. */
export const readInvocation = (body: string): Invocation => {
  const value = readJson(body);
  const chat = ChatRequest.safeParse(value);
  if (chat.success) return { kind: 'chat', request: chat.data };
  const completion = CompletionRequest.safeParse(value);
  if (completion.success) return { kind: 'completion', request: completion.data };
  throw new BadRequest("Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']");
};

/** The body of `POST /tokenize`; where it has both, text counts. Throws `BadRequest`. */
export const readTokenizeRequest = (body: string): TokenizeRequest => {
  const value = readJson(body);
  const isChat = typeof value === 'object' && value !== null && 'messages' in value && !('prompt' in value);
  return isChat ? check(TokenizeChat, value) : check(TokenizePrompt, value);
};

/** A schema and a body in, what the body says out. Throws `BadRequest` that explains what does not fit. */
export const parseBody = <Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> => check(schema, readJson(body));

const check = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const read = schema.safeParse(value);
  if (!read.success) throw new BadRequest(explain(read.error));
  return read.data;
};

/** What fields must not be together is told in its own words, without where it is. */
const explain = (error: z.ZodError): string =>
  error.issues.find(({ code, path }) => code === 'custom' && path.length === 0)?.message ?? z.prettifyError(error);

const readJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new BadRequest(`JSON decode error: ${error instanceof Error ? error.message : error}`);
  }
};
