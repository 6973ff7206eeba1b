import type { Model } from '../../../shared/models/model.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import type { ChatCompletionRequest } from './request.ts';

type ReasoningEffort = 'low' | 'medium' | 'high' | 'none';

/** The settings for a model's thinking, with the runtime's names. */
export interface UpstreamThinking {
  reasoning_effort?: ReasoningEffort;
  thinking_token_budget?: number;
  /** Variables of the chat template. */
  variables?: Record<string, unknown>;
}

/** The limit on thinking tokens that a request sets, and the field that sets it. */
export const thinkingBudget = ({ reasoning_effort, thinking }: ChatCompletionRequest): { field: string; tokens: number } | undefined => {
  if (typeof reasoning_effort === 'number') return { field: 'reasoning_effort', tokens: reasoning_effort };
  if (thinking?.type === 'enabled' && thinking.budget_tokens != null)
    return { field: 'thinking.budget_tokens', tokens: thinking.budget_tokens };
  return undefined;
};

/** True if a model respects a limit on thinking tokens. */
export const keepsThinkingBudget = ({ capabilities, dialect }: Model): boolean =>
  capabilities.thinking_budget && dialectOf({ dialect }).keepsThinkingBudget;

/** Converts `reasoning_effort` and `thinking` for a runtime. A token limit is sent only if the model supports one. */
export const toUpstreamThinking = (request: ChatCompletionRequest, model: Model): UpstreamThinking => {
  const { reasoning_effort: effort, thinking } = request;
  const budget = keepsThinkingBudget(model) ? thinkingBudget(request) : undefined;
  const name = typeof effort === 'boolean' ? (effort ? 'medium' : 'none') : typeof effort === 'string' ? effort : undefined;
  return {
    ...(name && { reasoning_effort: name }),
    ...(budget && { thinking_token_budget: budget.tokens }),
    ...(thinking && { variables: { [model.thinking_variable]: thinking.type === 'enabled' } }),
  };
};

/**
 * The variables that a runtime gives its chat template: a request's own, and what vLLM derives from `reasoning_effort`.
 */
export const templateVariables = ({ reasoning_effort: effort, variables }: UpstreamThinking): Record<string, unknown> | undefined =>
  effort ? { reasoning_effort: effort, enable_thinking: effort !== 'none', ...variables } : variables;
