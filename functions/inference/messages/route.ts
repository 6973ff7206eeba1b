import { InvalidRequest } from '../../../shared/http/errors.ts';
import { idLike } from '../../../shared/ids/id.ts';
import type { InferenceRoute } from '../pipeline/inference-route.ts';
import { type MessagesRequest, messagesRequest } from './request.ts';

const notYet = (): never => {
  throw new InvalidRequest({ message: 'This route is not ready. Use chat completions.' });
};

/** Creates messages. */
export const messages: InferenceRoute<MessagesRequest> = {
  schema: messagesRequest,
  maxTokens: ({ body }) => body.max_tokens,
  checkSupport: notYet,
  ignored: () => [],
  isDocumented: () => false,
  choices: () => 1,
  window: ({ body }) => ({ requestedTokens: body.max_tokens, whenExceeded: 'truncate', maxPromptTokens: undefined }),
  toPrompt: notYet,
  toUpstream: notYet,
  replyId: (requestId) => idLike('message', requestId),
  toStream: notYet,
  toWhole: notYet,
};
