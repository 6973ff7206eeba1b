import type { Model } from '../../../shared/models/model.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import { sentAs } from '../../../shared/upstream/dialect.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import { requestBody } from '../../../shared/upstream/request-body.ts';
import { intoRange } from '../chat/sampling-fields.ts';
import { isPassed } from '../chat/support.ts';
import type { UpstreamFacts } from '../pipeline/inference-route.ts';
import { type CompletionRequest, completionFields } from './request.ts';
import { treatmentOf } from './support.ts';

// requestBody sets these on every body.
const SET_ELSEWHERE = new Set<string>(['model', 'prompt_cache_isolation_key']);

/** The body for a runtime's completions endpoint. It has only fields that the model's dialect lists, and no nulls. */
export const toUpstreamCompletion = (
  request: CompletionRequest,
  model: Model,
  facts: UpstreamFacts<TextPrompt>,
): Record<string, unknown> => {
  const dialect = dialectOf(model);
  const { texts } = facts.prompt;
  const more: Record<string, unknown> = {};
  for (const name of completionFields) {
    const key = sentAs(name, treatmentOf(name, dialect));
    if (key !== undefined && request[name] != null && !SET_ELSEWHERE.has(name)) more[key] = request[name];
  }
  for (const name of dialect.extras) if (request[name] != null && isPassed(name, model)) more[name] = request[name];
  const [only] = texts;
  const prompt = texts.length === 1 && only !== undefined ? only : texts;
  return requestBody(dialect, facts, { prompt }, intoRange(more, facts.maxTokens, dialect));
};
