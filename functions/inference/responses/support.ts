import { nameOf } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { checkLogprobsSize } from '../chat/logprobs-size.ts';
import { checkSupport, ignoredFields } from '../chat/support.ts';
import { fieldNames } from './field-names.ts';
import { knownFields, type ResponsesRequest } from './request.ts';
import { LOGPROBS, toChatSettings, wantsLogprobs } from './to-chat.ts';
import { isFunction } from './tool.ts';

/** The events that end a stream say every log probability four times over, in one write. */
export const MAX_RESPONSE_LOGPROBS = 20_000;

const checkLogprobs = (request: ResponsesRequest, maxTokens: number): void => {
  if (!wantsLogprobs(request)) return;
  checkLogprobsSize({
    tokens: maxTokens,
    top: request.asked.top_logprobs ?? 0,
    formula: 'max_output_tokens × (top_logprobs + 1)',
    holder: 'a response',
    remedy: 'Request fewer.',
    param: 'top_logprobs',
    most: MAX_RESPONSE_LOGPROBS,
  });
};

/** 400 when the request switches on what its model cannot do. */
export const checkResponses = (request: ResponsesRequest, model: Model, maxTokens: number): void => {
  checkLogprobs(request, maxTokens);
  checkSupport(toChatSettings(request), model, maxTokens, fieldNames);
};

/** The properties that were accepted and have no effect on this model. */
export const ignoredResponsesFields = (request: ResponsesRequest, model: Model): string[] => {
  const { asked } = request;
  const { tools, text, include, truncation } = asked;
  const foreign = (tools ?? []).flatMap((tool) => (isFunction(tool) ? [] : [`tools.${tool.foreign}`]));
  return [
    ...Object.entries(asked).flatMap(([name, value]) => (value == null || knownFields.has(name) ? [] : [name])),
    ...ignoredFields(toChatSettings(request), model).map((name) => nameOf(name, fieldNames)),
    ...new Set(foreign),
    ...(include?.some((name) => name !== LOGPROBS) ? ['include'] : []),
    ...(text?.verbosity == null ? [] : ['text.verbosity']),
    ...(truncation === 'auto' && !model.tokenizer ? ['truncation'] : []),
  ];
};
