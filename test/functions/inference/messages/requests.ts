import { countRequest, type MessagesRequest, messagesRequest } from '../../../../functions/inference/messages/request.ts';
import { messagesPrompt } from '../../../../functions/inference/messages/to-chat.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { Model } from '../../../../shared/models/model.ts';
import type { PromptMessage } from '../../../../shared/tokens/prompt.ts';

export const model = Model.parse({
  name: 'm',
  status: 'published',
  created: 0,
  context_length: 1_000,
  max_output_tokens: 800,
  default_output_tokens: 100,
  targets: [{ endpoint: 'e' }],
  prices: [{ version: 'p', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
});

const minimal = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };

/** A request as the route parses it. */
export const read = (body: Record<string, unknown> = {}): MessagesRequest => validate(messagesRequest, { ...minimal, ...body });

/** A request to count tokens, as the route parses it. */
export const readCount = (body: Record<string, unknown>): MessagesRequest => validate(countRequest, { ...minimal, ...body });

/** The field and the message of a rejected request's error. */
export const refusal = (body: Record<string, unknown>): { param: string | null; message: string; status: number } => {
  try {
    read(body);
  } catch (error) {
    return error as ReturnType<typeof refusal>;
  }
  throw new Error('The request was accepted.');
};

/** The messages of a request's prompt. */
export const promptOf = (messages: unknown, more: Record<string, unknown> = {}): PromptMessage[] =>
  messagesPrompt(read({ messages, ...more }), model).messages;

export const user = (content: unknown) => ({ role: 'user', content });
export const assistant = (content: unknown) => ({ role: 'assistant', content });
export const system = (content: unknown) => ({ role: 'system', content });
export const text = (value: string) => ({ type: 'text', text: value });
export const used = (id: string, name = 'f', input: unknown = {}) => ({ type: 'tool_use', id, name, input });
export const result = (id: string, content: unknown = 'done', more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
