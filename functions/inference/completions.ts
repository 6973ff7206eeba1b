import { type CompletionForm, createCompletion, createCompletionStream } from '../../shared/completions/reply.ts';
import { CompletionRequest, promptsOf } from '../../shared/completions/request.ts';
import { checkCompletion, ignoredCompletionFields } from '../../shared/completions/support.ts';
import { toUpstreamCompletion } from '../../shared/completions/to-upstream.ts';
import { idLike } from '../../shared/ids/id.ts';
import type { TextPrompt } from '../../shared/tokens/prompt.ts';
import type { InferenceRoute } from './route.ts';

/** What OpenAI and vLLM give a completion that names no max_tokens. */
const DEFAULT_TOKENS = 16;

const formOf = (request: CompletionRequest): CompletionForm => ({
  includeUsage: request.stream_options?.include_usage === true,
  tokenIds: request.return_token_ids === true,
});

/** POST /v1/completions (interface 4.4). */
export const completions: InferenceRoute<CompletionRequest, TextPrompt> = {
  path: '/v1/completions',
  schema: CompletionRequest,
  checkSupport: checkCompletion,
  ignored: ignoredCompletionFields,
  choices: (request) => promptsOf(request).length * (request.n ?? 1),
  window: ({ max_tokens }) => ({ maxTokens: max_tokens ?? DEFAULT_TOKENS, whenExceeded: 'truncate', maxPromptTokens: undefined }),
  toPrompt: (request) => ({ texts: promptsOf(request) }),
  toUpstream: toUpstreamCompletion,
  replyId: (requestId) => idLike('completion', requestId),
  toStream: (request, facts) => createCompletionStream(facts, formOf(request)),
  toWhole: (request, facts) => createCompletion(facts, formOf(request)),
};
