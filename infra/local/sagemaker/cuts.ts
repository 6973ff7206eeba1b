import { seededRandom } from './seeded-random.ts';

type Cuts = 'whole' | 'random' | 'bytes';

/** One chunk in this many is cut in two by `random`. */
const RANDOM_CUT_EVERY = 4;

/**
 * How SageMaker cuts a container's answer into payload parts: it does not respect lines, events or characters.
 * @param cuts `whole`: as the container wrote them. `random`: about one chunk in four in two, at any byte. `bytes`: each byte by itself
 * @param seed the same seed makes the same cuts
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
