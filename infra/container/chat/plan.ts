import type { GenerationRequest } from '../generation/generate.ts';
import { toGeneration } from '../requests/generation.ts';
import { checkRanges } from '../requests/ranges.ts';
import { fitWindow } from '../requests/window.ts';
import { findModel, type ServingLimits } from '../served-models.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import { answerPhases, reasoningTokensOf } from './answer-phases.ts';
import { type CalledTools, calledTools } from './called-tools.ts';
import { echoOf, encodeConversation } from './prompt.ts';
import type { ChatRequest } from './request.ts';

/** What to generate, and what the reply says beside it. */
export interface ChatPlan {
  modelName: string;
  generation: GenerationRequest;
  called: CalledTools;
  /** Text before each answer, which the model did not make. */
  echo: string;
  showsReasoning: boolean;
  showsTokenIds: boolean;
  requestId: string | undefined;
}

/**
 * A body that fits the schema in, the way to its answers out. Throws `NotFound` for a model's name that is not served, `BadRequest`
 * for a value out of range, for a JSON schema that cannot be followed, and for a prompt and `max_tokens` that do not fit the
 * window together.
 */
export const planChat = (body: ChatRequest, tokenizer: ContainerTokenizer, limits: ServingLimits): ChatPlan => {
  const model = findModel(body.model, limits);
  const asked = body.max_completion_tokens ?? body.max_tokens;
  checkRanges(body, { maxTokens: asked ?? 1, logprobs: body.top_logprobs ?? 0 });
  const prompt = encodeConversation(body, tokenizer);
  const maxTokens = fitWindow(prompt.length, asked, limits.windowTokens);
  const called = calledTools(body);
  return {
    modelName: model.name,
    called,
    echo: echoOf(body, prompt, tokenizer),
    showsReasoning: body.include_reasoning ?? true,
    showsTokenIds: body.return_token_ids ?? false,
    requestId: body.request_id,
    generation: {
      ...toGeneration(body, tokenizer, maxTokens),
      prompt,
      createPhases: answerPhases(body, called, reasoningTokensOf(body, model.reasons, maxTokens), tokenizer),
      topLogprobs: body.logprobs ? (body.top_logprobs ?? 0) : null,
    },
  };
};
