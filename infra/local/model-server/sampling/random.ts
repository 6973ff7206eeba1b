import { randomInt } from 'node:crypto';

/** Returns a random number in [0, 1). */
export type Random = () => number;

const GOLDEN_RATIO = 0x9e3779b9;

/**
 * Creates an sfc32 generator (https://pracrand.sourceforge.net), deterministic for a seed (any JSON integer) and a
 * stream.
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
