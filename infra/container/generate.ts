import { createAnswerText } from './answer-text.ts';
import type { LanguageModel } from './model.ts';
import { createRandom, createSampler } from './sampling.ts';
import type { ContainerTokenizer } from './tokenizer.ts';

export type GenerationRequest = {
  prompt: readonly number[];
  maxTokens: number;
  temperature: number;
  seed: number | undefined;
  stops: readonly string[];
};

export type Finish = { reason: 'stop' | 'length'; stopReason: string | null };

/** One generated token: its id, the text it makes showable (often its own, sometimes none), and on the last one why it is the last. */
export type Step = { token: number; text: string; finish: Finish | null };

/**
 * A request in, its answer out, a step for each token; the token that ends the turn is a step too, and counts in the usage.
 * The caller sets the pace and may stop at any step. The same request with a seed, or at temperature 0, gives the same steps.
 */
export function* generate(model: LanguageModel, tokenizer: ContainerTokenizer, request: GenerationRequest): Generator<Step, void, void> {
  const cache = model.readPrompt(request.prompt);
  const sample = createSampler(request.temperature, createRandom(request.seed));
  const answerText = createAnswerText(request.stops);
  const logits = new Float32Array(model.vocabularySize);
  const answer: number[] = [];
  while (answer.length < request.maxTokens) {
    const token = sample(model.nextLogits(cache, answer, logits));
    answer.push(token);
    const { text, stop } = answerText.push(tokenizer.tokenBytes(token));
    const finish = finishOf(token === model.endOfTurn, stop, answer.length === request.maxTokens);
    yield { token, text: finish && stop === null ? text + answerText.flush() : text, finish };
    if (finish) return;
  }
}

function finishOf(endsTurn: boolean, stop: string | null, isLast: boolean): Finish | null {
  if (endsTurn || stop !== null) return { reason: 'stop', stopReason: stop };
  return isLast ? { reason: 'length', stopReason: null } : null;
}
