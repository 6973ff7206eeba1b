import type { GenerationRequest } from '../generation/generate.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { type SharedFields, stopsOf } from './fields.ts';
import { toSampling } from './sampling.ts';

// vLLM treats this seed as absent.
const NO_SEED = -1;

/** Returns the generation settings of a request. The gateway has checked the ranges. */
export const toGeneration = (
  body: SharedFields,
  tokenizer: ContainerTokenizer,
  maxTokens: number,
): Omit<GenerationRequest, 'prompt' | 'createPhases' | 'topLogprobs'> => ({
  maxTokens,
  choices: body.n ?? 1,
  seed: body.seed === null || body.seed === NO_SEED ? undefined : body.seed,
  sampling: toSampling(body, tokenizer),
  stops: stopsOf(body),
  showStop: body.include_stop_str_in_output ?? false,
  stopTokens: new Set(body.stop_token_ids),
  ignoreEnd: body.ignore_eos ?? false,
  showSpecials: body.skip_special_tokens === false,
});
