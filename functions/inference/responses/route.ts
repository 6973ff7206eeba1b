import { idLike } from '../../../shared/ids/id.ts';
import type { ResponseStore } from '../../../shared/responses/response-store.ts';
import { toChatPrompt } from '../chat/to-prompt.ts';
import { toUpstreamChat } from '../chat/to-upstream.ts';
import { modelsAfterFirst } from '../fallback/requested-models.ts';
import type { InferenceRoute } from '../pipeline/inference-route.ts';
import { continueResponse } from './continue-response.ts';
import { createResponseStream } from './reply-stream.ts';
import { createResponse } from './reply-whole.ts';
import { type ResponsesRequest, responsesRequest } from './request.ts';
import { isReference } from './resolve-references.ts';
import { samplingOf } from './sampling.ts';
import { checkResponses, ignoredResponsesFields, isResponsesField } from './support.ts';
import { toChat, toChatSettings } from './to-chat.ts';
import { windowOf } from './window.ts';

/** Creates responses (interface 4.4), and stores them. */
export const responses = ({ store, now }: { store: ResponseStore; now: () => number }): InferenceRoute<ResponsesRequest> => ({
  schema: responsesRequest,
  resolve: (request, { organization }) => continueResponse(store, request, organization),
  refersToStored: ({ body }) => body.previous_response_id != null || body.input.some(isReference),
  fallbacks: { field: 'models', of: ({ body }) => modelsAfterFirst(body) },
  maxTokens: ({ body }) => body.max_output_tokens ?? undefined,
  checkSupport: checkResponses,
  ignored: ignoredResponsesFields,
  isDocumented: isResponsesField,
  mayStore: ({ body }) => body.store !== false,
  choices: () => 1,
  window: windowOf,
  toPrompt: (request, model) => toChatPrompt(toChat(request), model),
  toUpstream: (request, model, facts) => toUpstreamChat({ ...toChatSettings(request), ...samplingOf(request, model) }, model, facts),
  replyId: (requestId) => idLike('response', requestId),
  toStream: (request, facts, model) => createResponseStream(request, { ...facts, sampling: samplingOf(request, model) }, { store, now }),
  toWhole: (request, facts, model) => createResponse(request, { ...facts, sampling: samplingOf(request, model) }, { store, now }),
});
