import { type ChatCompletionRequest, chatRequest } from '../../../../functions/inference/chat/request.ts';
import { toChatPrompt } from '../../../../functions/inference/chat/to-prompt.ts';
import { toUpstreamChat } from '../../../../functions/inference/chat/to-upstream.ts';
import { Model } from '../../../../shared/models/model.ts';

export const hi = { role: 'user', content: 'Hi' };

/** A published model without a tokenizer, but for the given fields. */
export const model = (change: object = {}): Model =>
  Model.parse({
    name: 'm',
    status: 'published',
    created: 0,
    context_length: 100,
    max_output_tokens: 50,
    default_output_tokens: 10,
    targets: [{ endpoint: 'e' }],
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    ...change,
  });

export const schema = chatRequest;

/** A request as the route reads it. */
export const read = (body: object): ChatCompletionRequest => schema.parse({ model: 'm', messages: [hi], ...body });

const facts = { containerModel: '', maxTokens: 10, requestId: 'req_1', cacheSalt: 'salt' };
/** The body that is sent to the runtime of a model. */
export const upstream = (body: object, change: object = {}): Record<string, unknown> => {
  const request = read(body);
  return toUpstreamChat(request, model(change), { ...facts, prompt: toChatPrompt(request, model(change)) });
};

/** The fields of every body for a runtime. */
export const always = {
  model: '',
  messages: [hi],
  max_tokens: 10,
  stream: true,
  stream_options: { include_usage: true },
  cache_salt: 'salt',
  request_id: 'req_1',
};
