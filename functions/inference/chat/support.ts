import { type FieldNames, InvalidValue, nameOf } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import { checkFormat } from './check-format.ts';
import { checkLogprobsSize } from './logprobs-size.ts';
import { type ChatCompletionRequest, type ChatExtra, type ChatField, chatFields, hasTools, maxTokensFieldOf } from './request.ts';
import { samplingExtras } from './sampling-fields.ts';
import { keepsThinkingBudget, thinkingBudget } from './thinking.ts';
import { isLegacy } from './tool.ts';
import { UnsupportedByModel } from './unsupported-by-model.ts';

/**
 * Rejects token ids outside the model's vocabulary, because an invalid id can crash a runtime.
 * @throws InvalidRequest
 */
export const checkTokenIds = (
  request: Pick<ChatCompletionRequest, 'logit_bias' | 'stop_token_ids' | 'allowed_token_ids'>,
  { tokenizer }: Model,
): void => {
  const size = tokenizer?.vocabulary_size;
  if (size === undefined) return;
  const lists = {
    logit_bias: Object.keys(request.logit_bias ?? {}).map(Number),
    stop_token_ids: request.stop_token_ids ?? [],
    allowed_token_ids: request.allowed_token_ids ?? [],
  };
  for (const [param, ids] of Object.entries(lists)) {
    const wrong = ids.find((id) => id >= size);
    if (wrong !== undefined) throw new InvalidValue(param, `expected token ids of this model, 0 to ${size - 1}, got ${wrong}`);
  }
};

const checkLogprobs = (request: ChatCompletionRequest, maxTokens: number): void => {
  const { stream, logprobs, top_logprobs, n } = request;
  if (stream || !logprobs) return;
  checkLogprobsSize({
    tokens: (n ?? 1) * maxTokens,
    top: top_logprobs ?? 0,
    formula: `n × ${maxTokensFieldOf(request)} × (top_logprobs + 1)`,
    holder: 'a response without streaming',
    remedy: 'Send stream: true or request fewer.',
    param: 'logprobs',
  });
};

// Every runtime does the default without the field.
const isDefault = (field: ChatField, value: unknown): boolean => {
  if (!value || value === 'auto' || (field === 'n' && value === 1)) return true;
  return field === 'response_format' && (value as { type?: unknown }).type === 'text';
};

/**
 * Rejects a request that enables something the model does not support.
 * @param names the route's names of the fields, where they differ from a chat completion's
 * @throws 400
 */
export const checkSupport = (request: ChatCompletionRequest, model: Model, maxTokens: number, names?: FieldNames): void => {
  const { fields } = dialectOf(model);
  const { tools, logprobs } = model.capabilities;
  const refuse = (field: string): never => {
    throw new UnsupportedByModel(nameOf(field, names), model.name);
  };
  checkTokenIds(request, model);
  checkLogprobs(request, maxTokens);
  for (const name of chatFields) if (fields[name].how === 'refused' && !isDefault(name, request[name])) refuse(name);
  if (!tools && hasTools(request)) refuse(isLegacy(request) ? 'functions' : 'tools');
  checkFormat(request, model, names);
  if (!logprobs && request.logprobs) refuse('logprobs');
};

const known = new Set<string>(chatFields);

/** True if a name is one of a chat completion's fields. */
export const isChatField = (name: string): boolean => known.has(name) || Object.hasOwn(samplingExtras, name);

const NEEDS_COUNT = ['prompt_truncate_len', 'context_length_exceeded_behavior'] as const;
const NEEDS_TOOLS = ['tool_choice', 'parallel_tool_calls', 'function_call'] as const;
const TOKEN_IDS = new Set<ChatExtra>(['stop_token_ids', 'allowed_token_ids']);

/** True if a field beyond the interface is sent to the model's runtime. Token ids need a known vocabulary size. */
export const isPassed = (name: ChatExtra, { tokenizer }: Model): boolean =>
  !TOKEN_IDS.has(name) || tokenizer?.vocabulary_size !== undefined;

/** The options of a stream that have no effect, of which clients of other servers send some. */
export const ignoredStreamOptions = ({ stream_options: options }: Pick<ChatCompletionRequest, 'stream_options'>): string[] =>
  Object.keys(options ?? {}).flatMap((name) => (options?.[name] == null || name === 'include_usage' ? [] : [`stream_options.${name}`]));

/** The fields of a request that were accepted but have no effect on this model. */
export const ignoredFields = (request: ChatCompletionRequest, model: Model): string[] => {
  const { fields, extras } = dialectOf(model);
  const isIgnored = (name: string): boolean =>
    known.has(name)
      ? fields[name as ChatField].how === 'ignored'
      : !extras.includes(name as ChatExtra) || !isPassed(name as ChatExtra, model);
  const ignored = Object.keys(request).filter((name) => request[name] != null && isIgnored(name));
  ignored.push(...ignoredStreamOptions(request));
  const budget = thinkingBudget(request);
  if (budget && !keepsThinkingBudget(model)) ignored.push(budget.field);
  if (!model.tokenizer) ignored.push(...NEEDS_COUNT.filter((name) => request[name] != null));
  if (!hasTools(request)) ignored.push(...NEEDS_TOOLS.filter((name) => request[name] != null));
  return ignored;
};
