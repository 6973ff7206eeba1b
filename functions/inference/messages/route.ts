import { idLike } from '../../../shared/ids/id.ts';
import { toUpstreamChat } from '../chat/to-upstream.ts';
import type { InferenceRoute } from '../pipeline/inference-route.ts';
import { PromptTooLong } from './prompt-too-long.ts';
import { createMessageStream } from './reply-stream.ts';
import { createMessageReply } from './reply-whole.ts';
import { type MessagesRequest, messagesRequest } from './request.ts';
import { checkMessages, fieldNamesOf, ignoredMessagesFields, isMessagesField } from './support.ts';
import { messagesPrompt, toChatSettings } from './to-chat.ts';

/** Creates messages, as Anthropic's Messages API defines them (https://platform.claude.com/docs/en/api/messages). */
export const messages: InferenceRoute<MessagesRequest> = {
  schema: messagesRequest,
  fallbacks: { field: 'fallbacks', of: ({ body }) => body.fallbacks?.map(({ model }) => model) },
  maxTokens: ({ body }) => body.max_tokens ?? undefined,
  checkSupport: checkMessages,
  ignored: ignoredMessagesFields,
  isDocumented: isMessagesField,
  choices: () => 1,
  window: (request) => ({
    requestedTokens: request.body.max_tokens ?? undefined,
    whenExceeded: 'truncate',
    maxPromptTokens: undefined,
    names: fieldNamesOf(request),
    exceeded: (facts) => new PromptTooLong(facts),
  }),
  toPrompt: messagesPrompt,
  toUpstream: (request, model, facts) => toUpstreamChat(toChatSettings(request, facts.maxTokens), model, facts),
  replyId: (requestId) => idLike('message', requestId),
  toStream: (_, facts) => createMessageStream(facts),
  toWhole: (_, facts) => createMessageReply(facts),
};
