import * as z from 'zod';
import { ChatRequest } from '../chat/request.ts';
import { CompletionRequest } from '../completions/request.ts';
import { BadRequest } from '../errors.ts';
import { TokenizeChat, TokenizePrompt, type TokenizeRequest } from '../tokenization/request.ts';

type Invocation = { kind: 'chat'; request: ChatRequest } | { kind: 'completion'; request: CompletionRequest };

/** Like vLLM, tries the chat schema, then the text completion schema. Throws `BadRequest` without naming a field if neither matches. */
export const readInvocation = (body: string): Invocation => {
  const value = readJson(body);
  const chat = ChatRequest.safeParse(value);
  if (chat.success) return { kind: 'chat', request: chat.data };
  const completion = CompletionRequest.safeParse(value);
  if (completion.success) return { kind: 'completion', request: completion.data };
  throw new BadRequest("Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']");
};

/** Parses the body of `POST /tokenize`. `prompt` has precedence over `messages`. Throws `BadRequest`. */
export const readTokenizeRequest = (body: string): TokenizeRequest => {
  const value = readJson(body);
  const isChat = typeof value === 'object' && value !== null && 'messages' in value && !('prompt' in value);
  return isChat ? check(TokenizeChat, value) : check(TokenizePrompt, value);
};

/** Parses a JSON body with a schema. Throws `BadRequest` that says which fields are invalid. */
export const parseBody = <Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> => check(schema, readJson(body));

const check = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const read = schema.safeParse(value);
  if (!read.success) throw new BadRequest(explain(read.error));
  return read.data;
};

/** An error about a combination of fields has only its own message. */
const explain = (error: z.ZodError): string =>
  error.issues.find(({ code, path }) => code === 'custom' && path.length === 0)?.message ?? z.prettifyError(error);

const readJson = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new BadRequest(`JSON decode error: ${error instanceof Error ? error.message : error}`);
  }
};
