import type { Model } from '../../../shared/models/model.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import { dialects } from '../chat/dialects.ts';
import { intoRange } from '../chat/sampling-fields.ts';
import { isPassed } from '../chat/support.ts';
import type { UpstreamFacts } from '../chat/to-upstream.ts';
import { type CompletionRequest, completionFields } from './request.ts';
import { treatmentOf } from './support.ts';

/** The body for a runtime's completions endpoint, in the ways of a chat body: no null, no key that the table does not name, always a stream with usage and a bound. */
export const toUpstreamCompletion = (
  request: CompletionRequest,
  model: Model,
  { containerModel, prompt, maxTokens, requestId, cacheSalt }: UpstreamFacts<TextPrompt>,
): Record<string, unknown> => {
  const dialect = dialects[model.dialect];
  const [only] = prompt.texts;
  const body: Record<string, unknown> = {
    model: containerModel,
    prompt: prompt.texts.length === 1 ? only : prompt.texts,
    max_tokens: maxTokens,
  };
  for (const name of completionFields) {
    const value = request[name];
    if (value != null && name !== 'model' && treatmentOf(name, dialect).how === 'passed') body[name] = value;
  }
  for (const name of dialect.extras) if (request[name] != null && isPassed(name, model)) body[name] = request[name];
  intoRange(body, maxTokens);
  return Object.assign(body, { cache_salt: cacheSalt, stream: true, stream_options: { include_usage: true }, request_id: requestId });
};
