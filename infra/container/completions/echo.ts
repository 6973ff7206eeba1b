import { setImmediate } from 'node:timers/promises';
import type { LanguageModel } from '../model.ts';
import { logprobOf } from '../sampling/logprobs.ts';
import type { ToldToken } from './logprobs.ts';
import type { CompletionPlan } from './plan.ts';
import type { Prompt } from './prompts.ts';

/** What a reply shows of a prompt before the answer; without logarithms of probabilities no tokens. */
export interface Echo {
  text: string;
  tokens: readonly ToldToken[];
}

/** Other requests run after this many tokens of a prompt, a few milliseconds. */
const TOKENS_PER_TURN = 16;

/** A plan in, the echo of each of its prompts out; none if nothing is echoed. As vLLM has it, the text stays away where token ids are asked for. An abort ends it with the signal's reason. */
export const echoesOf = async (plan: CompletionPlan, model: LanguageModel, signal: AbortSignal): Promise<Echo[]> => {
  const echoes: Echo[] = [];
  for (const prompt of plan.echoes ? plan.prompts : []) {
    const tokens = plan.topLogprobs === null ? [] : await tellPrompt(prompt, plan.topLogprobs, model, signal);
    echoes.push({ text: plan.showsTokenIds ? '' : prompt.text, tokens });
  }
  return echoes;
};

/** A token of a prompt is as likely as it would be as the first of an answer to what comes before it. */
const tellPrompt = async ({ tokens }: Prompt, topCount: number, model: LanguageModel, signal: AbortSignal): Promise<ToldToken[]> => {
  const logits = new Float32Array(model.vocabularySize);
  const told: ToldToken[] = [];
  for (const [at, token] of tokens.entries()) {
    if (at % TOKENS_PER_TURN === 0) await setImmediate(undefined, { signal });
    if (at > 0) model.nextLogits(model.readPrompt(tokens.slice(0, at)), [], logits);
    told.push({ token, logprob: at === 0 ? null : logprobOf(logits, token, topCount) });
  }
  return told;
};
