import { isFull } from './is-full.ts';

export { isFull };

/**
 * How much a random, fault or load test does. CONTRIBUTING.md says when to run the full sizes.
 * @param some in `npm test`: enough to find the breakages that were planted to choose it
 * @param all in `npm run test:full`
 */
export const sized = <Size>(some: Size, all: Size): Size => (isFull ? all : some);
