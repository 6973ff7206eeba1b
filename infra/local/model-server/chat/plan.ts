import type { GenerationRequest } from '../generation/generate.ts';
import { openedWith } from '../generation/opening.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { toGeneration } from '../requests/generation.ts';
import { findModel, type ServingLimits } from '../requests/served-models.ts';
import { fitWindow } from '../requests/window.ts';
import { answerPhases, reasoningTokensOf } from './answer-phases.ts';
import { type CalledTools, calledTools } from './called-tools.ts';
import { echoOf, encodeConversation } from './prompt.ts';
import type { ChatRequest } from './request.ts';

/** The answers to generate for a request, and the other parts of its response. */
export interface ChatPlan {
  modelName: string;
  generation: GenerationRequest;
  called: CalledTools;
  /** Prompt text that comes before each answer. */
  echo: string;
  showsReasoning: boolean;
  showsTokenIds: boolean;
  requestId: string | undefined;
}

/**
 * Plans the answers to a request. Throws `NotFound` for an unknown model and `BadRequest` for an unsupported JSON
 * schema, or a prompt and `max_tokens` that exceed the window together.
 */
export const planChat = (body: ChatRequest, tokenizer: ContainerTokenizer, limits: ServingLimits): ChatPlan => {
  const model = findModel(body.model, limits);
  const requestedTokens = body.max_completion_tokens ?? body.max_tokens;
  const prompt = encodeConversation(body, tokenizer);
  const maxTokens = fitWindow(prompt.length, requestedTokens, limits.windowTokens);
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
      createPhases: openedWith(
        model.opening,
        answerPhases(body, called, reasoningTokensOf(body, model.reasons, maxTokens), tokenizer),
        tokenizer,
      ),
      topLogprobs: body.logprobs ? (body.top_logprobs ?? 0) : null,
    },
  };
};
