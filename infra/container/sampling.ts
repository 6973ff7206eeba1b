import { randomInt } from 'node:crypto';

/** vLLM takes any temperature below this for greedy sampling. */
const GREEDY_BELOW = 1e-5;

/** e to the power of this is too little to matter against 1. */
const NEGLIGIBLE = -20;

/** Numbers in [0, 1), one a call. */
export type Random = () => number;

/** Logits in, a token id out. */
export type Sampler = (logits: Float32Array) => number;

/**
 * A seed (any integer a JSON number can hold) in, a stream of numbers out that is the same for the same seed; without a seed
 * it is another one each time. The generator is sfc32 of PractRand (https://pracrand.sourceforge.net).
 */
export function createRandom(seed?: number): Random {
  const start = seed ?? randomInt(2 ** 47);
  let a = start >>> 0;
  let b = Math.floor(start / 2 ** 32) >>> 0;
  let c = 0x9e3779b9;
  let counter = 1;
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

/** A temperature and, for any but 0, randomness in; what chooses each next token out. */
export function createSampler(temperature: number, random: Random): Sampler {
  return temperature < GREEDY_BELOW ? mostLikely : (logits) => drawToken(logits, temperature, random());
}

/** The lowest id wins a tie, so greedy answers never vary. */
function mostLikely(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) {
    if ((logits[id] ?? 0) > (logits[best] ?? 0)) best = id;
  }
  return best;
}

/** Draws from the softmax of logits / temperature by inverting its cumulative sum at `point`, a number in [0, 1). */
function drawToken(logits: Float32Array, temperature: number, point: number): number {
  const likeliest = mostLikely(logits);
  const top = logits[likeliest] ?? 0;
  const weights = logits.map((logit) => {
    const exponent = (logit - top) / temperature;
    return exponent < NEGLIGIBLE ? 0 : Math.exp(exponent);
  });
  let left = point * weights.reduce((sum, weight) => sum + weight, 0);
  for (let id = 0; id < weights.length; id++) {
    left -= weights[id] ?? 0;
    if (left < 0) return id;
  }
  return likeliest;
}
