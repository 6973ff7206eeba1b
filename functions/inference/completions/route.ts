import type { FieldNames } from '../../../shared/http/errors.ts';
import { idLike } from '../../../shared/ids/id.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import { modelsAfterFirst } from '../fallback/requested-models.ts';
import type { InferenceRoute } from '../pipeline/inference-route.ts';
import { type CompletionForm, createCompletion, createCompletionStream } from './reply.ts';
import { CompletionRequest, promptsOf } from './request.ts';
import { checkCompletion, ignoredCompletionFields, isCompletionField, maxTokensOf } from './support.ts';
import { toUpstreamCompletion } from './to-upstream.ts';

const formOf = (request: CompletionRequest): CompletionForm => ({
  includeUsage: request.stream_options?.include_usage === true,
  tokenIds: request.return_token_ids === true,
});

const fieldNames: FieldNames = { messages: 'prompt' };

/** Creates completions of plain text (interface 4.4). */
export const completions: InferenceRoute<CompletionRequest, TextPrompt> = {
  schema: CompletionRequest,
  fallbacks: { field: 'models', of: modelsAfterFirst },
  maxTokens: maxTokensOf,
  checkSupport: checkCompletion,
  ignored: ignoredCompletionFields,
  isDocumented: isCompletionField,
  choices: (request) => promptsOf(request).length * (request.n ?? 1),
  window: (request) => ({ requestedTokens: maxTokensOf(request), whenExceeded: 'truncate', maxPromptTokens: undefined, names: fieldNames }),
  toPrompt: (request) => ({ texts: promptsOf(request) }),
  toUpstream: toUpstreamCompletion,
  replyId: (requestId) => idLike('completion', requestId),
  toStream: (request, facts) => createCompletionStream(facts, formOf(request)),
  toWhole: (request, facts) => createCompletion(facts, formOf(request)),
};
