import { formattedAnswer } from '../constrained/formatted-answer.ts';
import { BadRequest } from '../errors.ts';
import type { GenerationRequest } from '../generation/generate.ts';
import { freePhase } from '../generation/phase.ts';
import { toGeneration } from '../requests/generation.ts';
import { checkRanges } from '../requests/ranges.ts';
import { fitWindow } from '../requests/window.ts';
import { findModel, type ServingLimits } from '../served-models.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import { type Prompt, readPrompts } from './prompts.ts';
import type { CompletionRequest } from './request.ts';

/** What to generate, and what the reply says beside it. */
export interface CompletionPlan {
  modelName: string;
  prompts: readonly Prompt[];
  /** How many answers each prompt gets; they are numbered through, those of the first prompt first. */
  choicesPerPrompt: number;
  /** One for each prompt. */
  generations: readonly GenerationRequest[];
  echoes: boolean;
  /** How many likely tokens to tell beside each token; null tells no logarithms of probabilities at all. */
  topLogprobs: number | null;
  showsTokenIds: boolean;
  requestId: string | undefined;
}

const DEFAULT_MAX_TOKENS = 16;

/**
 * A body that fits the schema in, the way to its answers out. Throws `NotFound` for a model's name that is not served, `BadRequest`
 * for a suffix, for a value out of range, for a prompt that is none, and for one that does not fit the window with `max_tokens`.
 */
export const planCompletion = (body: CompletionRequest, tokenizer: ContainerTokenizer, limits: ServingLimits): CompletionPlan => {
  const model = findModel(body.model, limits);
  if (typeof body.suffix === 'string') throw new BadRequest('suffix is not currently supported');
  const echoes = body.echo ?? false;
  const maxTokens = body.max_tokens ?? DEFAULT_MAX_TOKENS;
  const checkedTokens = echoes && maxTokens === 0 ? 1 : maxTokens;
  checkRanges(body, { maxTokens: checkedTokens, logprobs: body.logprobs ?? 0 });
  const prompts = readPrompts(body, tokenizer);
  for (const { tokens } of prompts) fitWindow(tokens.length, maxTokens, limits.windowTokens);
  const generation = {
    ...toGeneration(body, tokenizer, checkedTokens),
    maxTokens,
    createPhases: formattedAnswer(body.response_format, tokenizer) ?? (() => [freePhase()]),
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
