import { toChatPrompt } from '../../shared/chat/to-prompt.ts';
import { toUpstreamChat } from '../../shared/chat/to-upstream.ts';
import { idLike } from '../../shared/ids/id.ts';
import { continueResponse } from '../../shared/responses/continue-response.ts';
import { createResponseStream } from '../../shared/responses/reply-stream.ts';
import { createResponse } from '../../shared/responses/reply-whole.ts';
import { type ResponsesRequest, responsesRequest } from '../../shared/responses/request.ts';
import type { ResponseStore } from '../../shared/responses/response-store.ts';
import { checkResponses, ignoredResponsesFields } from '../../shared/responses/support.ts';
import { toChat, toChatSettings } from '../../shared/responses/to-chat.ts';
import { windowOf } from '../../shared/responses/window.ts';
import type { InferenceRoute } from './route.ts';

/**
 * POST /v1/responses (interface 4.4).
 * @param facts `structuredOutputs`: whether `text.format` may be a `json_schema`
 */
export const responses = ({
  structuredOutputs,
  store,
  now,
}: {
  structuredOutputs: boolean;
  store: ResponseStore;
  now: () => number;
}): InferenceRoute<ResponsesRequest> => ({
  path: '/v1/responses',
  schema: responsesRequest(structuredOutputs),
  resolve: (request, { organization }) => continueResponse(store, request, organization),
  checkSupport: checkResponses,
  ignored: ignoredResponsesFields,
  choices: () => 1,
  window: windowOf,
  toPrompt: (request, model) => toChatPrompt(toChat(request), model),
  toUpstream: (request, model, facts) => toUpstreamChat(toChatSettings(request), model, facts),
  replyId: (requestId) => idLike('response', requestId),
  toStream: (request, facts) => createResponseStream(request, facts, { store, now }),
  toWhole: (request, facts) => createResponse(request, facts, { store, now }),
});
