import type { Model } from '../../../shared/models/model.ts';
import { sentAs } from '../../../shared/upstream/dialect.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import { requestBody } from '../../../shared/upstream/request-body.ts';
import type { UpstreamFacts } from '../pipeline/inference-route.ts';
import { type ChatCompletionRequest, type ChatField, chatFields } from './request.ts';
import { intoRange } from './sampling-fields.ts';
import { isPassed } from './support.ts';
import { toUpstreamThinking, type UpstreamThinking } from './thinking.ts';
import { isLegacy, toUpstreamTools } from './tool.ts';

// Keys that are null are left out.
const toResponseFormat = ({ response_format: format }: ChatCompletionRequest): object | undefined => {
  if (format?.type !== 'json_schema') return format ?? undefined;
  return { type: format.type, json_schema: Object.fromEntries(Object.entries(format.json_schema).filter(([, value]) => value !== null)) };
};

// By the caller's field names.
const convertedFields = (request: ChatCompletionRequest, thinking: UpstreamThinking): Partial<Record<ChatField, unknown>> => {
  const { tools, tool_choice, parallel_tool_calls } = toUpstreamTools(request);
  const isDeprecated = isLegacy(request);
  return {
    tools: isDeprecated ? undefined : tools,
    functions: isDeprecated ? tools : undefined,
    tool_choice: isDeprecated ? undefined : tool_choice,
    function_call: isDeprecated ? tool_choice : undefined,
    parallel_tool_calls,
    response_format: toResponseFormat(request),
    reasoning_effort: thinking.reasoning_effort,
    thinking: thinking.variables,
    // requestBody sets these two on every body.
    max_completion_tokens: undefined,
    prompt_cache_isolation_key: undefined,
  };
};

const CONTINUE = { continue_final_message: true, add_generation_prompt: false };

/** The body for a runtime's chat endpoint. It has only fields that the model's dialect lists, and no nulls. */
export const toUpstreamChat = (request: ChatCompletionRequest, model: Model, facts: UpstreamFacts): Record<string, unknown> => {
  const dialect = dialectOf(model);
  const thinking = toUpstreamThinking(request, model);
  const values = { ...request, ...convertedFields(request, thinking) };
  const more: Record<string, unknown> = {};
  for (const name of chatFields) {
    const key = sentAs(name, dialect.fields[name]);
    if (key !== undefined && values[name] != null) more[key] = values[name];
  }
  for (const name of dialect.extras) if (request[name] != null && isPassed(name, model)) more[name] = request[name];
  if (thinking.thinking_token_budget !== undefined) more.thinking_token_budget = thinking.thinking_token_budget;
  if (facts.prompt.continues) Object.assign(more, CONTINUE);
  return requestBody(dialect, facts, { messages: facts.prompt.messages }, intoRange(more, facts.maxTokens, dialect));
};
