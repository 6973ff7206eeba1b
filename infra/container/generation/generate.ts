import { createAnswerText } from '../answer-text.ts';
import type { LanguageModel, PromptCache } from '../model.ts';
import { type ChosenLogprob, logprobOf } from '../sampling/logprobs.ts';
import type { SamplingParameters } from '../sampling/parameters.ts';
import { createRandom } from '../sampling/random.ts';
import { createSampler } from '../sampling/sampler.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import type { Channel, Phase } from './phase.ts';

export interface GenerationRequest {
  prompt: readonly number[];
  /** How many answers to make, side by side. */
  choices: number;
  /** The most tokens of each answer; 0 makes none. */
  maxTokens: number;
  seed: number | undefined;
  sampling: SamplingParameters;
  /** The phases of one answer, at least one; the last one never ends. */
  createPhases: () => readonly Phase[];
  stops: readonly string[];
  /** Shows the stop string, or the text of the stop token, that ended the answer. */
  showStop: boolean;
  stopTokens: ReadonlySet<number>;
  /** The token that ends the turn is one like any other. */
  ignoreEnd: boolean;
  /** Shows the text of special tokens. */
  showSpecials: boolean;
  /** How many likely tokens to tell beside each token; null tells no logarithms of probabilities at all. */
  topLogprobs: number | null;
}

/** `stopReason` is the stop string or the stop token; null where the model ended its turn. */
export interface Finish {
  reason: 'stop' | 'length';
  stopReason: string | number | null;
}

/**
 * One generated token: whose it is, where its text goes and what text it makes showable (often its own, sometimes none), and
 * on the last one of an answer why it is the last. `opensRound` is true for the first of those made at the same time.
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
 * Requests in, their answers out, a step for each token; all answers get their next token in turn. They are numbered through: those
 * of the first prompt, those of the second, and so on. The token that ends the turn is a step too, and counts in the usage. The
 * caller sets the pace and may stop at any step. The same request with a seed, or at temperature 0, gives the same steps.
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

/** Turns the tokens of one answer into text, and sees where it ends. */
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
