import { nameOf } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { foreignItemTypes } from '../../../shared/responses/tool-item.ts';
import { checkLogprobsSize } from '../chat/logprobs-size.ts';
import { checkSupport, ignoredFields, isChatField } from '../chat/support.ts';
import { fieldNames } from './field-names.ts';
import { knownFields, type ResponsesRequest } from './request.ts';
import { ENCRYPTED_REASONING, LOGPROBS, toChatSettings, wantsLogprobs } from './to-chat.ts';
import { foreignTypes } from './tools/flatten.ts';
import { loadedTools } from './tools/tool-calls.ts';

/** The final events of a stream repeat every log probability four times, in one write. */
export const MAX_RESPONSE_LOGPROBS = 20_000;

const checkLogprobs = (request: ResponsesRequest, maxTokens: number): void => {
  if (!wantsLogprobs(request)) return;
  checkLogprobsSize({
    tokens: maxTokens,
    top: request.body.top_logprobs ?? 0,
    formula: 'max_output_tokens × (top_logprobs + 1)',
    holder: 'a response',
    remedy: 'Request fewer.',
    param: 'top_logprobs',
    most: MAX_RESPONSE_LOGPROBS,
  });
};

/** Rejects a request that enables something its model does not support. @throws 400 */
export const checkResponses = (request: ResponsesRequest, model: Model, maxTokens: number): void => {
  checkLogprobs(request, maxTokens);
  checkSupport(toChatSettings(request), model, maxTokens, fieldNames);
};

const VERBOSITY = 'text.verbosity';

/** True if a name is one of a response's fields. */
export const isResponsesField = (name: string): boolean => knownFields.has(name) || isChatField(name) || name === VERBOSITY;

/** The fields that were accepted but have no effect on this model. */
export const ignoredResponsesFields = (request: ResponsesRequest, model: Model): string[] => {
  const { body, input } = request;
  const { tools, text, include, truncation } = body;
  const foreignTools = foreignTypes([...(tools ?? []), ...loadedTools(input)]).map((type) => `tools.${type}`);
  const foreignItems = input.flatMap(({ type }) => ((foreignItemTypes as readonly unknown[]).includes(type) ? [`input.${type}`] : []));
  return [
    ...Object.entries(body).flatMap(([name, value]) => (value == null || knownFields.has(name) ? [] : [name])),
    ...ignoredFields(toChatSettings(request), model).map((name) => nameOf(name, fieldNames)),
    ...new Set([...foreignTools, ...foreignItems]),
    ...(include?.some((name) => name !== LOGPROBS && name !== ENCRYPTED_REASONING) ? ['include'] : []),
    ...(text?.verbosity == null ? [] : [VERBOSITY]),
    ...(truncation === 'auto' && !model.tokenizer ? ['truncation'] : []),
  ];
};
