import { formattedAnswer } from '../constrained/formatted-answer.ts';
import type { GenerationRequest } from '../generation/generate.ts';
import { openedWith } from '../generation/opening.ts';
import { freePhase } from '../generation/phase.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { toGeneration } from '../requests/generation.ts';
import { findModel, type ServingLimits } from '../requests/served-models.ts';
import { fitWindow } from '../requests/window.ts';
import { type Prompt, readPrompts } from './prompts.ts';
import type { CompletionRequest } from './request.ts';

/** The answers to generate for a request, and the other parts of its response. */
export interface CompletionPlan {
  modelName: string;
  prompts: readonly Prompt[];
  /** The number of answers to each prompt. Their indexes continue from one prompt to the next. */
  choicesPerPrompt: number;
  /** One per prompt. */
  generations: readonly GenerationRequest[];
  echoes: boolean;
  /** The number of top logprobs per token; null for no logprobs at all. */
  topLogprobs: number | null;
  showsTokenIds: boolean;
  requestId: string | undefined;
}

const DEFAULT_MAX_TOKENS = 16;

/**
 * Plans the answers to a request. Throws `NotFound` for an unknown model and `BadRequest` for an invalid prompt, or a
 * prompt and `max_tokens` that exceed the window together.
 */
export const planCompletion = (body: CompletionRequest, tokenizer: ContainerTokenizer, limits: ServingLimits): CompletionPlan => {
  const model = findModel(body.model, limits);
  const echoes = body.echo ?? false;
  const maxTokens = body.max_tokens ?? DEFAULT_MAX_TOKENS;
  const prompts = readPrompts(body, tokenizer);
  for (const { tokens } of prompts) fitWindow(tokens.length, maxTokens, limits.windowTokens);
  const generation = {
    ...toGeneration(body, tokenizer, maxTokens),
    createPhases: openedWith(model.opening, formattedAnswer(body.response_format, tokenizer) ?? (() => [freePhase()]), tokenizer),
    topLogprobs: body.logprobs ?? null,
  };
  return {
    modelName: model.name,
    prompts,
    choicesPerPrompt: generation.choices,
    generations: prompts.map(({ tokens }) => ({ ...generation, prompt: tokens })),
    echoes,
    topLogprobs: generation.topLogprobs,
    showsTokenIds: body.return_token_ids ?? false,
    requestId: body.request_id,
  };
};
