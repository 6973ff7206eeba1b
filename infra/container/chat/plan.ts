import { NotFound } from '../errors.ts';
import type { GenerationRequest } from '../generation/generate.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import { answerPhases, reasoningTokensOf } from './answer-phases.ts';
import { type CalledTools, calledTools } from './called-tools.ts';
import { echoOf, encodePrompt, fitWindow } from './prompt.ts';
import type { ChatRequest } from './request.ts';
import { checkRanges, stopsOf, toSampling } from './sampling-fields.ts';

/** A name that is served, and whether it thinks before it answers. */
export type ServedModel = { name: string; reasons: boolean };

/** `models` has at least one; the first answers those who name none. */
export type ChatLimits = { models: readonly ServedModel[]; windowTokens: number };

/** What to generate, and what the reply says beside it. */
export type ChatPlan = {
  modelName: string;
  generation: GenerationRequest;
  called: CalledTools;
  /** Text before each answer, which the model did not make. */
  echo: string;
  showsReasoning: boolean;
  showsTokenIds: boolean;
  requestId: string | undefined;
};

/** vLLM takes this seed for none. */
const NO_SEED = -1;

/**
 * A body that fits the schema in, the way to its answers out. Throws `NotFound` for a model's name that is not served, `BadRequest`
 * for a value out of range, for a JSON schema that cannot be followed, and for a prompt and `max_tokens` that do not fit the
 * window together.
 */
export function planChat(body: ChatRequest, tokenizer: ContainerTokenizer, { models, windowTokens }: ChatLimits): ChatPlan {
  const model = body.model ? models.find(({ name }) => name === body.model) : models[0];
  if (!model) throw new NotFound(`The model \`${body.model}\` does not exist.`, 'model');
  checkRanges(body);
  const prompt = encodePrompt(body, tokenizer);
  const maxTokens = fitWindow(prompt.length, body.max_completion_tokens ?? body.max_tokens, windowTokens);
  const called = calledTools(body);
  return {
    modelName: model.name,
    called,
    echo: echoOf(body, prompt, tokenizer),
    showsReasoning: body.include_reasoning ?? true,
    showsTokenIds: body.return_token_ids ?? false,
    requestId: body.request_id,
    generation: {
      prompt,
      maxTokens,
      choices: body.n ?? 1,
      seed: body.seed === null || body.seed === NO_SEED ? undefined : body.seed,
      sampling: toSampling(body, tokenizer, maxTokens),
      createPhases: answerPhases(body, called, reasoningTokensOf(body, model.reasons, maxTokens), tokenizer),
      stops: stopsOf(body),
      showStop: body.include_stop_str_in_output ?? false,
      stopTokens: new Set(body.stop_token_ids),
      ignoreEnd: body.ignore_eos ?? false,
      showSpecials: body.skip_special_tokens === false,
      topLogprobs: body.logprobs ? (body.top_logprobs ?? 0) : null,
    },
  };
}
