import { ApiError } from '../http/errors.ts';
import type { Model } from '../models/model.ts';
import { dialects } from '../upstream/dialects/index.ts';
import { type ChatCompletionRequest, chatFields, hasTools } from './request.ts';
import { thinkingBudget } from './thinking.ts';
import { isLegacy } from './tool.ts';

/** A property that the called model cannot honour, where leaving it out silently would be worse than an error. */
export class UnsupportedByModel extends ApiError {
  constructor(field: string, model: string) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: field,
      message: `The model '${model}' does not support '${field}'. Leave it out, or call a model that supports it.`,
    });
  }
}

/** 400 when the request switches on what its model cannot do. */
export const checkSupport = (request: ChatCompletionRequest, model: Model): void => {
  const { fields } = dialects[model.dialect];
  const { tools, json_object, logprobs } = model.capabilities;
  const refuse = (field: string): never => {
    throw new UnsupportedByModel(field, model.name);
  };
  for (const name of chatFields) if (fields[name].how === 'refused' && request[name]) refuse(name);
  if (!tools && hasTools(request)) refuse(isLegacy(request) ? 'functions' : 'tools');
  if (!json_object && request.response_format && request.response_format.type !== 'text') refuse('response_format');
  if (!logprobs && request.logprobs) refuse('logprobs');
};

const known = new Set<string>(chatFields);

/** The properties of a request that were accepted and have no effect on this model. */
export const ignoredFields = (request: ChatCompletionRequest, model: Model): string[] => {
  const { fields, extras } = dialects[model.dialect];
  const passedOn = new Set<string>(extras);
  const ignored = Object.entries(request).flatMap(([name, value]) => {
    if (value == null) return [];
    if (known.has(name)) return fields[name as keyof typeof fields].how === 'ignored' ? [name] : [];
    return passedOn.has(name) ? [] : [name];
  });
  const budget = thinkingBudget(request);
  if (budget && !model.capabilities.thinking_budget) ignored.push(budget.field);
  if (request.prompt_truncate_len != null && !model.tokenizer) ignored.push('prompt_truncate_len');
  return ignored;
};
