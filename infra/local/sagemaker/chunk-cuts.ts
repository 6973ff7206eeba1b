import { seededRandom } from './seeded-random.ts';

type Cuts = 'whole' | 'random' | 'bytes';

// `random` splits one chunk in this many.
const RANDOM_CUT_EVERY = 4;

/**
 * Creates a splitter of a container's response into payload parts. As on SageMaker, a part can end within a line,
 * event or character.
 * @param cuts `whole`: one part per chunk. `random`: about one chunk in four is split in two, at any byte. `bytes`:
 * one part per byte
 * @param seed the same seed gives the same cuts
 * @returns a function from a chunk to its parts, in order
 */
export const createCutter = (cuts: Cuts, seed: number): ((chunk: Buffer) => Buffer[]) => {
  if (cuts === 'whole') return (chunk) => [chunk];
  if (cuts === 'bytes') return (chunk) => Array.from(chunk, (_byte, index) => chunk.subarray(index, index + 1));
  const random = seededRandom(seed);
  return (chunk) => {
    if (chunk.length < 2 || random() * RANDOM_CUT_EVERY >= 1) return [chunk];
    const at = 1 + Math.floor(random() * (chunk.length - 1));
    return [chunk.subarray(0, at), chunk.subarray(at)];
  };
};
