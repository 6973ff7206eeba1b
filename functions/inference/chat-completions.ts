import { createChatCompletion, createChatStream } from '../../shared/chat/from-upstream.ts';
import { ChatCompletionRequest, chatCompletionFields } from '../../shared/chat/request.ts';
import { promptBytes, toUpstreamChat } from '../../shared/chat/to-upstream.ts';
import { idLike } from '../../shared/ids/id.ts';
import type { InferenceRoute } from './route.ts';

/** POST /v1/chat/completions (interface 4.1). */
export const chatCompletions: InferenceRoute<ChatCompletionRequest> = {
  path: '/v1/chat/completions',
  schema: ChatCompletionRequest,
  fields: chatCompletionFields,
  maxTokens: (request) => request.max_completion_tokens ?? request.max_tokens ?? undefined,
  promptBytes,
  toUpstream: toUpstreamChat,
  replyId: (requestId) => idLike('chatCompletion', requestId),
  toStream: (request, facts) => createChatStream(facts, request.stream_options?.include_usage === true),
  toWhole: (_request, facts) => createChatCompletion(facts),
};
