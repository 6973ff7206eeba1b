import { likeliestToken } from './logits.ts';
import { isGreedy, type SamplingParameters } from './parameters.ts';
import type { Random } from './random.ts';
import { stepsFor } from './steps.ts';

// The exponential of a smaller number is negligible next to 1.
const NEGLIGIBLE = -20;

// Sets the logits of forbidden tokens to -Infinity.
type Mask = (logits: Float32Array) => void;

// Returns the next token id, and does not modify the logits.
type Sampler = (logits: Float32Array, answer: readonly number[], mask: Mask) => number;

/** Creates the sampler of one answer. Greedy sampling doesn't use `random`. */
export const createSampler = (parameters: SamplingParameters, prompt: readonly number[], random: Random): Sampler => {
  const steps = stepsFor(parameters, prompt);
  const greedy = isGreedy(parameters.temperature);
  let scratch = new Float32Array();
  let lastProbability: number | null = null;
  return (raw, answer, mask) => {
    if (scratch.length !== raw.length) scratch = new Float32Array(raw.length);
    scratch.set(raw);
    mask(scratch);
    for (const step of steps) step(scratch, { answer, lastProbability });
    let likeliest = likeliestToken(scratch);
    // If the parameters forbid every token that the mask allows, the mask wins.
    if (scratch[likeliest] === -Infinity) {
      scratch.set(raw);
      mask(scratch);
      likeliest = likeliestToken(scratch);
    }
    if (greedy) return likeliest;
    const { token, probability } = drawToken(scratch, likeliest, random());
    lastProbability = probability;
    return token;
  };
};

// Samples from the softmax of the logits by inverting its cumulative sum at `point`, in [0, 1). Overwrites the logits.
const drawToken = (logits: Float32Array, likeliest: number, point: number): { token: number; probability: number } => {
  const top = logits[likeliest] ?? 0;
  let total = 0;
  for (let id = 0; id < logits.length; id++) {
    const exponent = (logits[id] ?? 0) - top;
    const weight = exponent < NEGLIGIBLE ? 0 : Math.exp(exponent);
    logits[id] = weight;
    total += weight;
  }
  let left = point * total;
  for (let id = 0; id < logits.length; id++) {
    const weight = logits[id] ?? 0;
    left -= weight;
    if (left < 0) return { token: id, probability: weight / total };
  }
  return { token: likeliest, probability: 1 / total };
};
