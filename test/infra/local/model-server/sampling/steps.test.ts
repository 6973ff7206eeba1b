import { describe, expect, test } from '@jest/globals';
import { logSumExp, toProbabilities } from '../../../../../infra/local/model-server/sampling/logits.ts';
import { logprobOf } from '../../../../../infra/local/model-server/sampling/logprobs.ts';
import { PLAIN_SAMPLING, type SamplingParameters } from '../../../../../infra/local/model-server/sampling/parameters.ts';
import { createRandom } from '../../../../../infra/local/model-server/sampling/random.ts';
import { createSampler } from '../../../../../infra/local/model-server/sampling/sampler.ts';
import { stepsFor } from '../../../../../infra/local/model-server/sampling/steps.ts';

const PROBABILITIES = [0.5, 0.25, 0.15, 0.07, 0.03];
const logitsOf = (probabilities: readonly number[]): Float32Array => Float32Array.from(probabilities, Math.log);

// After all steps.
const stepped = (
  parameters: Partial<SamplingParameters>,
  answer: number[] = [],
  prompt: number[] = [],
  logits = logitsOf(PROBABILITIES),
) => {
  for (const step of stepsFor({ ...PLAIN_SAMPLING, ...parameters }, prompt)) step(logits, { answer, lastProbability: null });
  return logits;
};

const kept = (logits: Float32Array): number[] => [...logits.keys()].filter((id) => logits[id] !== -Infinity);

const samples = (parameters: Partial<SamplingParameters>, count = 4_000, probabilities = PROBABILITIES): number[] => {
  const sample = createSampler({ ...PLAIN_SAMPLING, ...parameters }, [], createRandom(7));
  return Array.from({ length: count }, () => sample(logitsOf(probabilities), [], () => {}));
};

const shareOf = (ids: readonly number[], id: number): number => ids.filter((one) => one === id).length / ids.length;

test('plain sampling needs no steps', () => {
  expect(stepsFor(PLAIN_SAMPLING, [1, 2])).toEqual([]);
});

describe('a filter', () => {
  test.each<[string, Partial<SamplingParameters>, number[]]>([
    ['top_k keeps the likeliest', { topK: 2 }, [0, 1]],
    ['top_p keeps the fewest tokens that reach it', { topP: 0.76 }, [0, 1, 2]],
    ['top_p keeps at least one token', { topP: 0.01 }, [0]],
    ['min_p is relative to the likeliest token', { minP: 0.25 }, [0, 1, 2]],
    ['min_p of 1 keeps only the likeliest token', { minP: 1 }, [0]],
    // The entropy is 1.27 nats. The closest surprises are those of 0.25 (1.39 nats), 0.5 (0.69) and 0.15 (1.90).
    ['typical_p keeps the token whose surprise is closest to the entropy', { typicalP: 0.2 }, [1]],
    ['typical_p adds tokens by distance to the entropy', { typicalP: 0.6 }, [0, 1]],
    ['mirostat starts with a bound of twice its target', { mirostat: { targetBits: 1.2, learningRate: 0.1 } }, [0, 1]],
    ['allowed tokens are the only tokens kept', { allowedTokens: new Set([2, 4]) }, [2, 4]],
    ['min_tokens removes the ending tokens', { minTokens: 1, endingTokens: [0, 3] }, [1, 2, 4]],
  ])('%s', (_, parameters, expected) => {
    expect(kept(stepped(parameters))).toEqual(expected);
  });

  test('keeps the lower ids of equal logits', () => {
    expect(kept(stepped({ topK: 2 }, [], [], Float32Array.of(1, 5, 1, 1)))).toEqual([0, 1]);
    expect(kept(stepped({ topP: 0.6 }, [], [], Float32Array.of(2, 2, 2)))).toEqual([0, 1]);
  });

  test('min_tokens has no effect once they are reached', () => {
    expect(kept(stepped({ minTokens: 2, endingTokens: [0] }, [4, 4]))).toContain(0);
  });

  test('removes the last token of a bad word only after its other tokens', () => {
    const badWords = [[1, 2, 3], [4]];
    expect(kept(stepped({ badWords }, [0, 1]))).toEqual([0, 1, 2, 3]);
    expect(kept(stepped({ badWords }, [0, 1, 2]))).toEqual([0, 1, 2]);
    expect(kept(stepped({ badWords }, [2]))).toEqual([0, 1, 2, 3]);
  });
});

describe('a logit change', () => {
  test('a logit bias is added', () => {
    const logits = stepped({ logitBias: new Map([[4, 10]]) });
    expect(logits[4]).toBeCloseTo(Math.log(0.03) + 10, 4);
  });

  test('presence_penalty applies once and frequency_penalty each time, only to tokens of the answer', () => {
    const before = logitsOf(PROBABILITIES);
    const after = stepped({ presencePenalty: 1, frequencyPenalty: 0.5 }, [1, 1, 2], [0]);
    expect([...after].map((logit, id) => Number(((before[id] ?? 0) - logit).toFixed(4)))).toEqual([0, 2, 1.5, 0, 0]);
  });

  test('repetition_penalty lowers logits of either sign for tokens of prompt and answer', () => {
    const after = stepped({ repetitionPenalty: 2 }, [1, 1], [2], Float32Array.of(4, 4, -4, 3));
    expect([...after]).toEqual([4, 2, -8, 3]);
  });

  test('temperature sharpens below 1 and flattens above', () => {
    const shares = (temperature: number) => shareOf(samples({ temperature }), 0);
    expect(shares(0.5)).toBeCloseTo(0.25 / PROBABILITIES.reduce((sum, p) => sum + p * p, 0), 1);
    expect(shares(1)).toBeCloseTo(0.5, 1);
    expect(shares(2)).toBeLessThan(0.4);
    expect(shares(0)).toBe(1);
  });
});

describe('a sample', () => {
  test('follows the probabilities', () => {
    const drawn = samples({}, 20_000);
    for (const [id, probability] of PROBABILITIES.entries()) expect(Math.abs(shareOf(drawn, id) - probability)).toBeLessThan(0.015);
  });

  test('is more surprising for a higher target of mirostat, and likeliest for a target near 0', () => {
    const flat = Array.from({ length: 64 }, (_, id) => 0.85 ** id);
    const total = flat.reduce((sum, weight) => sum + weight, 0);
    const surprise = (targetBits: number) => {
      const drawn = samples({ mirostat: { targetBits, learningRate: 0.1 } }, 4_000, flat);
      return drawn.reduce((sum, id) => sum - Math.log2((flat[id] ?? 0) / total), 0) / drawn.length;
    };
    expect(surprise(3)).toBeLessThan(surprise(4));
    expect(surprise(0.01)).toBeCloseTo(-Math.log2(1 / total), 1);
  });

  test('ignores the parameters if they forbid all tokens that the mask allows', () => {
    const sample = createSampler({ ...PLAIN_SAMPLING, allowedTokens: new Set([4]) }, [], createRandom(1));
    const onlyTwo = (logits: Float32Array) => logits.fill(-Infinity, 0, 2).fill(-Infinity, 3);
    expect(sample(logitsOf(PROBABILITIES), [], onlyTwo)).toBe(2);
  });

  test('does not modify the logits', () => {
    const logits = logitsOf(PROBABILITIES);
    createSampler({ ...PLAIN_SAMPLING, temperature: 0.5, topK: 1 }, [], createRandom(1))(logits, [], () => {});
    expect(logits).toEqual(logitsOf(PROBABILITIES));
  });
});

test('random numbers are deterministic for a seed and stream, and differ between them', () => {
  const first = (seed: number, stream: number) => createRandom(seed, stream)();
  expect(first(3, 1)).toBe(first(3, 1));
  expect(new Set([first(3, 0), first(3, 1), first(3, 2), first(4, 0)]).size).toBe(4);
});

test('logprobs are the logarithms of the softmax, best first', () => {
  const logits = Float32Array.of(3, 1, 7, 7);
  const { logprob, top } = logprobOf(logits, 1, 3);
  expect(Math.exp(logprob)).toBeCloseTo(toProbabilities(logits)[1] ?? 0, 6);
  expect(logprob).toBeCloseTo(1 - logSumExp(logits), 6);
  expect(top.map(({ token }) => token)).toEqual([2, 3, 0]);
  expect(logprobOf(logits, 1, 0).top).toEqual([]);
});
