import { countUntil, keepLargest, likeliestToken, toProbabilities } from './logits.ts';
import { isGreedy, type SamplingParameters } from './parameters.ts';

// Changes the logits in place. `lastProbability` is the probability with which the last token was sampled.
type LogitStep = (logits: Float32Array, context: { answer: readonly number[]; lastProbability: number | null }) => void;

// Null if the parameters of the answer don't need the step.
type MakeStep = (parameters: SamplingParameters, prompt: readonly number[]) => LogitStep | null;

const allowedTokens: MakeStep = ({ allowedTokens: allowed }) =>
  allowed &&
  ((logits) => {
    for (let id = 0; id < logits.length; id++) if (!allowed.has(id)) logits[id] = -Infinity;
  });

// Like vLLM, forbids only the last token of a word, and only after all its other tokens.
const badWords: MakeStep = ({ badWords: words }) =>
  words.length === 0
    ? null
    : (logits, { answer }) => {
        for (const word of words) {
          const before = word.slice(0, -1);
          const last = word.at(-1);
          const begins = before.every((id, i) => id === answer[answer.length - before.length + i]);
          if (last !== undefined && begins) logits[last] = -Infinity;
        }
      };

const logitBias: MakeStep = ({ logitBias: biases }) =>
  biases.size === 0
    ? null
    : (logits) => {
        for (const [id, bias] of biases) logits[id] = (logits[id] ?? 0) + bias;
      };

// Penalizes each token of prompt and answer once (Keskar et al. 2019, https://arxiv.org/abs/1909.05858).
const repetitionPenalty: MakeStep = ({ repetitionPenalty: penalty }, prompt) => {
  if (penalty === 1) return null;
  const ofPrompt = [...new Set(prompt)];
  return (logits, { answer }) => {
    for (const id of new Set([...ofPrompt, ...answer])) {
      const logit = logits[id] ?? 0;
      logits[id] = logit > 0 ? logit / penalty : logit * penalty;
    }
  };
};

// Both penalties count only tokens of the answer: https://platform.openai.com/docs/api-reference/parameter-details
const presenceAndFrequencyPenalty: MakeStep = ({ presencePenalty, frequencyPenalty }) =>
  presencePenalty === 0 && frequencyPenalty === 0
    ? null
    : (logits, { answer }) => {
        for (const id of new Set(answer)) logits[id] = (logits[id] ?? 0) - presencePenalty;
        for (const id of answer) logits[id] = (logits[id] ?? 0) - frequencyPenalty;
      };

const minTokens: MakeStep = ({ minTokens: count, endingTokens }) =>
  count === 0
    ? null
    : (logits, { answer }) => {
        if (answer.length < count) for (const id of endingTokens) logits[id] = -Infinity;
      };

const temperature: MakeStep = ({ temperature: degree }) =>
  degree === 1
    ? null
    : (logits) => {
        for (let id = 0; id < logits.length; id++) logits[id] = (logits[id] ?? 0) / degree;
      };

// Locally typical sampling (Meister et al. 2022, https://arxiv.org/abs/2202.00666).
const typicalP: MakeStep = ({ typicalP: mass }) =>
  mass >= 1
    ? null
    : (logits) => {
        const probabilities = toProbabilities(logits);
        const surprises = probabilities.map((probability) => -Math.log(probability));
        const entropy = probabilities.reduce(
          (sum, probability, id) => (probability > 0 ? sum + probability * (surprises[id] ?? 0) : sum),
          0,
        );
        const distances = surprises.map((surprise) => Math.abs(surprise - entropy));
        const order = [...probabilities.keys()].sort((a, b) => (distances[a] ?? 0) - (distances[b] ?? 0) || a - b);
        const inOrder = order.map((id) => probabilities[id] ?? 0);
        for (const id of order.slice(countUntil(mass, inOrder))) logits[id] = -Infinity;
      };

const topK: MakeStep = ({ topK: count }) => (count < 1 ? null : (logits) => keepLargest(logits, count));

// Nucleus sampling (Holtzman et al. 2019, https://arxiv.org/abs/1904.09751).
const topP: MakeStep = ({ topP: mass }) =>
  mass >= 1 ? null : (logits) => keepLargest(logits, countUntil(mass, toProbabilities(logits).sort().reverse()));

// Min-p sampling (Nguyen et al. 2024, https://arxiv.org/abs/2407.01082).
const minP: MakeStep = ({ minP: share }) =>
  share === 0
    ? null
    : (logits) => {
        const least = (logits[likeliestToken(logits)] ?? 0) + Math.log(share);
        for (let id = 0; id < logits.length; id++) if ((logits[id] ?? 0) < least) logits[id] = -Infinity;
      };

// Mirostat 2.0 (Basu et al. 2020, https://arxiv.org/abs/2007.14966) removes tokens whose surprise exceeds a bound, and
// adjusts the bound until the sampled tokens have the target surprise, in bits.
const mirostat: MakeStep = ({ mirostat: target }) => {
  if (target === null) return null;
  let boundBits = 2 * target.targetBits;
  return (logits, { lastProbability }) => {
    if (lastProbability !== null) boundBits -= target.learningRate * (-Math.log2(lastProbability) - target.targetBits);
    const probabilities = toProbabilities(logits);
    const likeliest = likeliestToken(logits);
    for (let id = 0; id < logits.length; id++) {
      if (id !== likeliest && -Math.log2(probabilities[id] ?? 0) > boundBits) logits[id] = -Infinity;
    }
  };
};

// These can change which token is the likeliest.
const CHANGING_STEPS: readonly MakeStep[] = [allowedTokens, badWords, logitBias, repetitionPenalty, presenceAndFrequencyPenalty, minTokens];

// In the order in which they apply.
const LOGIT_STEPS: readonly MakeStep[] = [...CHANGING_STEPS, temperature, typicalP, topK, topP, minP, mirostat];

/**
 * Returns the steps of one answer. Like vLLM, greedy sampling skips the steps that can't change the likeliest token.
 */
export const stepsFor = (parameters: SamplingParameters, prompt: readonly number[]): LogitStep[] =>
  (isGreedy(parameters.temperature) ? CHANGING_STEPS : LOGIT_STEPS)
    .map((makeStep) => makeStep(parameters, prompt))
    .filter((step) => step !== null);
