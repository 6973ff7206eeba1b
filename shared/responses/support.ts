import { checkSupport, ignoredFields, UnsupportedByModel } from '../chat/support.ts';
import { InvalidRequest } from '../http/errors.ts';
import type { Model } from '../models/model.ts';
import { wantedTokens } from '../tokens/fit-window.ts';
import { knownFields, type ResponsesRequest } from './request.ts';
import { LOGPROBS, toChatSettings, wantsLogprobs } from './to-chat.ts';
import { isFunction } from './tool.ts';

/** Chat's names for properties that have others here. */
const NAMES: Readonly<Record<string, string>> = {
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
  logprobs: 'top_logprobs',
};
const nameOf = (field: string): string => NAMES[field] ?? field;

/** The last event of a stream, like a reply in one piece, holds every log probability, each many times the size of its text. */
const MAX_LOGPROBS = 100_000;

const checkLogprobsSize = (request: ResponsesRequest, model: Model): void => {
  if (!wantsLogprobs(request)) return;
  const { max_output_tokens: maxTokens, top_logprobs: top } = request.asked;
  const count = wantedTokens(maxTokens ?? undefined, model) * ((top ?? 0) + 1);
  if (count > MAX_LOGPROBS)
    throw new InvalidRequest({
      param: 'top_logprobs',
      message: `Up to ${count} log probabilities (max_output_tokens × (top_logprobs + 1)) are too many for one response, which holds ${MAX_LOGPROBS}. Ask for fewer.`,
    });
};

/** 400 when the request switches on what its model cannot do. */
export const checkResponses = (request: ResponsesRequest, model: Model): void => {
  checkLogprobsSize(request, model);
  try {
    checkSupport(toChatSettings(request), model);
  } catch (error) {
    throw error instanceof UnsupportedByModel && error.param ? new UnsupportedByModel(nameOf(error.param), model.name) : error;
  }
};

/** The properties that were accepted and have no effect on this model. */
export const ignoredResponsesFields = (request: ResponsesRequest, model: Model): string[] => {
  const { asked } = request;
  const { tools, text, include, truncation } = asked;
  const foreign = (tools ?? []).flatMap((tool) => (isFunction(tool) ? [] : [`tools.${tool.foreign}`]));
  return [
    ...Object.entries(asked).flatMap(([name, value]) => (value == null || knownFields.has(name) ? [] : [name])),
    ...ignoredFields(toChatSettings(request), model).map(nameOf),
    ...new Set(foreign),
    ...(include?.some((name) => name !== LOGPROBS) ? ['include'] : []),
    ...(text?.verbosity == null ? [] : ['text.verbosity']),
    ...(truncation === 'auto' && !model.tokenizer ? ['truncation'] : []),
  ];
};
