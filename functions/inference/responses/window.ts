import type { Model } from '../../../shared/models/model.ts';
import type { WindowRequest } from '../pipeline/fit-window.ts';
import { fieldNames } from './field-names.ts';
import type { ResponsesRequest } from './request.ts';

// When older items are evicted, the answer reserves up to this share of the context window.
const MAX_ANSWER_SHARE = 0.5;

/**
 * The request's use of the context window. The answer gets what the prompt leaves. A prompt that leaves no room is
 * rejected; with `truncation: "auto"` older items are evicted until there is room.
 */
export const windowOf = ({ body }: ResponsesRequest, model: Model, maxTokens: number): WindowRequest => {
  const window = {
    requestedTokens: body.max_output_tokens ?? undefined,
    whenExceeded: 'truncate' as const,
    maxPromptTokens: undefined,
    names: fieldNames,
  };
  if (body.truncation !== 'auto') return window;
  const room = Math.min(maxTokens, Math.floor(model.context_length * MAX_ANSWER_SHARE));
  return { ...window, maxPromptTokens: Math.max(1, model.context_length - room) };
};
