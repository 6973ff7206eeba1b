import { randomInt } from 'node:crypto';

/** Numbers in [0, 1), one a call. */
export type Random = () => number;

const GOLDEN_RATIO = 0x9e3779b9;

/**
 * A seed (any integer a JSON number can hold) and which of its streams in, numbers out that are the same for the same two;
 * without a seed they are others each time. The generator is sfc32 of PractRand (https://pracrand.sourceforge.net).
 */
export const createRandom = (seed: number | undefined, stream = 0): Random => {
  const start = seed ?? randomInt(2 ** 47);
  let a = start >>> 0;
  let b = Math.floor(start / 2 ** 32) >>> 0;
  let c = Math.imul(GOLDEN_RATIO, stream + 1);
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
};
