import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt, Prompt } from '../../../shared/tokens/prompt.ts';
import { dialects } from './dialects.ts';
import { type ChatCompletionRequest, chatFields } from './request.ts';
import { intoRange } from './sampling-fields.ts';
import { isPassed } from './support.ts';
import { toUpstreamThinking } from './thinking.ts';
import { toUpstreamTools } from './tool.ts';

/** What the runtime is told beside the caller's own properties. */
export interface UpstreamFacts<P extends Prompt = ChatPrompt> {
  /** The name that the container knows the model by; '' = its own. */
  containerModel: string;
  prompt: P;
  maxTokens: number;
  requestId: string;
  cacheSalt: string;
}

/** Properties that the generic way does not send: their value is put together from several of the caller's. */
const COMPOSED = new Set(['tools', 'tool_choice', 'parallel_tool_calls', 'reasoning_effort', 'response_format']);

/** Without the keys that are null. */
const toResponseFormat = ({ response_format: format }: ChatCompletionRequest): Record<string, unknown> => {
  if (!format) return {};
  if (format.type !== 'json_schema') return { response_format: format };
  const schema = Object.fromEntries(Object.entries(format.json_schema).filter(([, value]) => value !== null));
  return { response_format: { type: format.type, json_schema: schema } };
};

/**
 * The body for a runtime's chat endpoint, by the table of the model's dialect: no null, no key that is not meant to go there, always a
 * stream with usage and always a bound, because the reservation and the bill rest on both. `request_id` is how a request is
 * found in its log, `cache_salt` what keeps one tenant's prompts out of another's cache.
 */
export const toUpstreamChat = (request: ChatCompletionRequest, model: Model, facts: UpstreamFacts): Record<string, unknown> => {
  const { fields, extras } = dialects[model.dialect];
  const body: Record<string, unknown> = { model: facts.containerModel, messages: facts.prompt.messages, max_tokens: facts.maxTokens };
  for (const name of chatFields) {
    const value = request[name];
    if (value != null && fields[name].how === 'passed' && !COMPOSED.has(name)) body[name] = value;
  }
  for (const name of extras) if (request[name] != null && isPassed(name, model)) body[name] = request[name];
  intoRange(body, facts.maxTokens);
  const { variables, ...thinking } = toUpstreamThinking(request, model);
  return Object.assign(body, toResponseFormat(request), toUpstreamTools(request), thinking, {
    ...(variables && { chat_template_kwargs: variables }),
    cache_salt: facts.cacheSalt,
    stream: true,
    stream_options: { include_usage: true },
    request_id: facts.requestId,
  });
};
