import type { Model } from '../../../shared/models/model.ts';
import type { WindowRequest } from '../pipeline/fit-window.ts';
import { fieldNames } from './field-names.ts';
import type { ResponsesRequest } from './request.ts';

/** The share of the window that an answer may claim before older items go. */
const MAX_ANSWER_SHARE = 0.5;

/**
 * What a request asks of the model's window. An answer gets what the prompt leaves; a prompt that leaves nothing is refused, or with
 * `truncation: "auto"` loses its older items first, until there is room for the answer.
 */
export const windowOf = ({ asked }: ResponsesRequest, model: Model, maxTokens: number): WindowRequest => {
  const window = {
    askedTokens: asked.max_output_tokens ?? undefined,
    whenExceeded: 'truncate' as const,
    maxPromptTokens: undefined,
    names: fieldNames,
  };
  if (asked.truncation !== 'auto') return window;
  const room = Math.min(maxTokens, Math.floor(model.context_length * MAX_ANSWER_SHARE));
  return { ...window, maxPromptTokens: Math.max(1, model.context_length - room) };
};
