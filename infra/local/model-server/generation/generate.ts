import type { LanguageModel, PromptCache } from '../model/language-model.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { type ChosenLogprob, logprobOf } from '../sampling/logprobs.ts';
import type { SamplingParameters } from '../sampling/parameters.ts';
import { createRandom } from '../sampling/random.ts';
import { createSampler } from '../sampling/sampler.ts';
import { createAnswerText } from './answer-text.ts';
import type { Channel, Phase } from './phase.ts';

export interface GenerationRequest {
  prompt: readonly number[];
  /** The number of answers, generated in parallel. */
  choices: number;
  /** The most tokens of each answer; can be 0. */
  maxTokens: number;
  seed: number | undefined;
  sampling: SamplingParameters;
  /** Creates the phases of one answer, at least one. The last one never ends. */
  createPhases: () => readonly Phase[];
  stops: readonly string[];
  /** Includes the stop string or the stop token's text in the answer. */
  showStop: boolean;
  stopTokens: ReadonlySet<number>;
  /** Continues after the end-of-turn token. */
  ignoreEnd: boolean;
  /** Includes the text of special tokens in the answer. */
  showSpecials: boolean;
  /** The number of top logprobs per token; null for no logprobs at all. */
  topLogprobs: number | null;
}

/** `stopReason` is the stop string or stop token; null if the model ended its turn or reached the limit. */
export interface Finish {
  reason: 'stop' | 'length';
  stopReason: string | number | null;
}

/**
 * One generated token of a choice. `text` is the text that can be shown now, which may lag behind the token. `finish`
 * is set on the last step of an answer. `opensRound` is true for the first of the steps that are generated in
 * parallel.
 */
export interface Step {
  choice: number;
  token: number;
  channel: Channel;
  text: string;
  logprob: ChosenLogprob | null;
  finish: Finish | null;
  opensRound: boolean;
}

/**
 * Generates the answers to all requests in parallel, one step per token, including the end-of-turn token. Choices are
 * numbered across requests in order. The caller can stop at any step. The steps are deterministic with a seed or at
 * temperature 0.
 */
export function* generate(
  model: LanguageModel,
  tokenizer: ContainerTokenizer,
  requests: readonly GenerationRequest[],
): Generator<Step, void, void> {
  let running = requests
    .flatMap((request) => {
      const cache = model.readPrompt(request.prompt);
      return Array.from({ length: request.choices }, (_, i) => generateAnswer(model, tokenizer, cache, request, i));
    })
    .map((steps, choice) => ({ steps, choice }));
  while (running.length > 0) {
    const finished = new Set<object>();
    for (const [i, answer] of running.entries()) {
      const { value } = answer.steps.next();
      if (!value || value.finish) finished.add(answer);
      if (value) yield { ...value, choice: answer.choice, opensRound: i === 0 };
    }
    running = running.filter((answer) => !finished.has(answer));
  }
}

type AnswerStep = Omit<Step, 'choice' | 'opensRound'>;

function* generateAnswer(
  model: LanguageModel,
  tokenizer: ContainerTokenizer,
  cache: PromptCache,
  request: GenerationRequest,
  randomStream: number,
): Generator<AnswerStep, void, void> {
  const { prompt, maxTokens, sampling, topLogprobs } = request;
  const sample = createSampler(sampling, prompt, createRandom(request.seed, randomStream));
  const reader = createReader(model.endOfTurn, tokenizer, request);
  const logits = new Float32Array(model.vocabularySize);
  const phases = request.createPhases().values();
  let phase = phases.next().value;
  const answer: number[] = [];
  while (phase && answer.length < maxTokens) {
    const { channel, mask, accept }: Phase = phase;
    model.nextLogits(cache, answer, logits);
    const token = sample(logits, answer, (masked) => mask(masked, maxTokens - answer.length));
    answer.push(token);
    const endsPhase = accept(token);
    const { text, finish } = reader.read(token, channel, endsPhase, answer.length);
    const logprob = topLogprobs === null ? null : logprobOf(logits, token, topLogprobs);
    yield { token, channel, text, logprob, finish };
    if (finish) return;
    if (endsPhase) phase = phases.next().value;
  }
}

const createReader = (endOfTurn: number, tokenizer: ContainerTokenizer, request: GenerationRequest) => {
  const { maxTokens, sampling, stops, stopTokens, ignoreEnd, showSpecials, showStop } = request;
  const createText = () => createAnswerText(stops, showStop);
  let answerText = createText();
  return {
    read(token: number, channel: Channel, endsPhase: boolean, tokens: number): { text: string; finish: Finish | null } {
      const endsTurn = token === endOfTurn && !ignoreEnd;
      const stopsHere = stopTokens.has(token) && !endsTurn;
      const bytes = stopsHere && !showStop ? new Uint8Array() : tokenizer.tokenBytes(token, showSpecials || stopsHere);
      const { text, stop } = answerText.push(bytes, channel.kind !== 'hidden' && tokens > sampling.minTokens);
      const finish = finishOf(stop ?? (stopsHere ? token : null), endsTurn, tokens === maxTokens);
      if (stop !== null || !(finish || endsPhase)) return { text, finish };
      const rest = answerText.flush();
      answerText = createText();
      return { text: text + rest, finish };
    },
  };
};

const finishOf = (stopReason: string | number | null, endsTurn: boolean, isLast: boolean): Finish | null => {
  if (stopReason !== null || endsTurn) return { reason: 'stop', stopReason };
  return isLast ? { reason: 'length', stopReason: null } : null;
};
