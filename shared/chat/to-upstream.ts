import type { Model } from '../models/model.ts';
import type { ChatPrompt } from '../tokens/prompt.ts';
import { dialects } from '../upstream/dialects/index.ts';
import { type ChatCompletionRequest, chatFields, GREEDY_BELOW } from './request.ts';
import { toUpstreamThinking } from './thinking.ts';
import { toUpstreamTools } from './tool.ts';

/** What the runtime is told beside the caller's own properties. */
export interface UpstreamFacts {
  /** The name that the container knows the model by; '' = its own. */
  containerModel: string;
  prompt: ChatPrompt;
  maxTokens: number;
  requestId: string;
  cacheSalt: string;
}

/** The largest 64-bit seed that survives as a JSON number. */
const MAX_SEED = 2 ** 63 - 1_024;

/** Lists that say nothing when they are empty; runtimes refuse some of them so. */
const LISTS = ['stop', 'stop_token_ids', 'bad_words', 'allowed_token_ids'];

/** Where the documented range is wider than a runtime's. */
const intoRange = (body: Record<string, unknown>): void => {
  if (typeof body.temperature === 'number' && body.temperature < GREEDY_BELOW) body.temperature = 0;
  if (body.top_p === 0) {
    delete body.top_p;
    body.top_k = 1;
  }
  // vLLM takes -1 for no seed at all.
  if (typeof body.seed === 'number') body.seed = body.seed === -1 ? MAX_SEED : Math.max(-MAX_SEED, Math.min(MAX_SEED, body.seed));
  for (const name of LISTS) if (Array.isArray(body[name]) && body[name].length === 0) delete body[name];
};

/** Properties that the generic way does not send: their value is put together from several of the caller's. */
const COMPOSED = new Set(['tools', 'tool_choice', 'parallel_tool_calls', 'reasoning_effort']);

/**
 * The body for a runtime's chat endpoint, by the table of the model's dialect: no null, no key that is not meant to go there, always a
 * stream with usage and always a bound, because the reservation and the bill rest on both. `request_id` is how a request is
 * found in its log, `cache_salt` what keeps one tenant's prompts out of another's cache.
 */
export const toUpstreamChat = (request: ChatCompletionRequest, model: Model, facts: UpstreamFacts): Record<string, unknown> => {
  const { fields, extras } = dialects[model.dialect];
  const body: Record<string, unknown> = { model: facts.containerModel, messages: facts.prompt.messages, max_tokens: facts.maxTokens };
  const minTokens = request.min_tokens;
  for (const name of chatFields) {
    const value = request[name];
    if (value != null && fields[name].how === 'passed' && !COMPOSED.has(name)) body[name] = value;
  }
  for (const name of extras) if (request[name] != null) body[name] = request[name];
  intoRange(body);
  if (minTokens != null && minTokens > facts.maxTokens) body.min_tokens = facts.maxTokens;
  const { variables, ...thinking } = toUpstreamThinking(request, model);
  return Object.assign(body, toUpstreamTools(request), thinking, {
    ...(variables && { chat_template_kwargs: variables }),
    cache_salt: facts.cacheSalt,
    stream: true,
    stream_options: { include_usage: true },
    request_id: facts.requestId,
  });
};
