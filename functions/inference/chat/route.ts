import { idLike } from '../../../shared/ids/id.ts';
import { modelsAfterFirst } from '../fallback/requested-models.ts';
import type { InferenceRoute } from '../pipeline/inference-route.ts';
import type { ReplyForm } from './reply.ts';
import { createChatStream } from './reply-stream.ts';
import { createChatCompletion } from './reply-whole.ts';
import { type ChatCompletionRequest, chatRequest, maxTokensFieldOf, maxTokensOf } from './request.ts';
import { checkSupport, ignoredFields, isChatField } from './support.ts';
import { toChatPrompt } from './to-prompt.ts';
import { toUpstreamChat } from './to-upstream.ts';
import { isLegacy } from './tool.ts';

const formOf = (request: ChatCompletionRequest): ReplyForm => ({
  includeUsage: request.stream_options?.include_usage === true,
  tokenIds: request.return_token_ids === true,
  isLegacy: isLegacy(request),
});

/** Creates chat completions (interface 4.1). */
export const chatCompletions: InferenceRoute<ChatCompletionRequest> = {
  schema: chatRequest,
  fallbacks: { field: 'models', of: modelsAfterFirst },
  maxTokens: maxTokensOf,
  checkSupport,
  ignored: ignoredFields,
  isDocumented: isChatField,
  choices: ({ n }) => n ?? 1,
  window: (request) => ({
    requestedTokens: maxTokensOf(request),
    whenExceeded: request.context_length_exceeded_behavior ?? 'truncate',
    maxPromptTokens: request.prompt_truncate_len ?? undefined,
    names: { max_tokens: maxTokensFieldOf(request) },
  }),
  toPrompt: toChatPrompt,
  toUpstream: toUpstreamChat,
  replyId: (requestId) => idLike('chatCompletion', requestId),
  toStream: (request, facts) => createChatStream(facts, formOf(request)),
  toWhole: (request, facts) => createChatCompletion(facts, formOf(request)),
};
