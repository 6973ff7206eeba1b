import { setImmediate } from 'node:timers/promises';
import type { LanguageModel } from '../model/language-model.ts';
import { logprobOf } from '../sampling/logprobs.ts';
import type { ScoredToken } from './logprobs.ts';
import type { CompletionPlan } from './plan.ts';
import type { Prompt } from './prompts.ts';

/**
 * The text and tokens of a prompt that come before the answer. There are tokens only if the request asks for
 * logprobs.
 */
export interface Echo {
  text: string;
  tokens: readonly ScoredToken[];
}

// Scoring a prompt yields to other requests after this many tokens, a few milliseconds.
const TOKENS_PER_YIELD = 16;

/**
 * Returns the echo of each prompt, or none if the request asks for no echo. As in vLLM, the text is empty if the
 * request asks for token ids. Throws the signal's reason on abort.
 */
export const echoesOf = async (plan: CompletionPlan, model: LanguageModel, signal: AbortSignal): Promise<Echo[]> => {
  const echoes: Echo[] = [];
  for (const prompt of plan.echoes ? plan.prompts : []) {
    const tokens = plan.topLogprobs === null ? [] : await scorePrompt(prompt, plan.topLogprobs, model, signal);
    echoes.push({ text: plan.showsTokenIds ? '' : prompt.text, tokens });
  }
  return echoes;
};

// A prompt token has the logprob of the first token of an answer to the tokens before it.
const scorePrompt = async ({ tokens }: Prompt, topCount: number, model: LanguageModel, signal: AbortSignal): Promise<ScoredToken[]> => {
  const logits = new Float32Array(model.vocabularySize);
  const scored: ScoredToken[] = [];
  for (const [at, token] of tokens.entries()) {
    if (at % TOKENS_PER_YIELD === 0) await setImmediate(undefined, { signal });
    if (at > 0) model.nextLogits(model.readPrompt(tokens.slice(0, at)), [], logits);
    scored.push({ token, logprob: at === 0 ? null : logprobOf(logits, token, topCount) });
  }
  return scored;
};
