import { setTimeout as delay } from 'node:timers/promises';

/**
 * The end of a load: after this time or after this many requests, whichever comes first. At least one of them is set.
 */
export type Bound = { ms: number; requests?: number } | { ms?: number; requests: number };

/**
 * Keeps `concurrency` pieces of work in progress until the bound is reached, and waits for the last of them.
 * @param work receives the number of the piece, from 0
 * @param rampMs the time over which the first pieces are started, instead of all at once
 * @returns how long all of it took, in ms
 */
export const keepInFlight = async (
  concurrency: number,
  bound: Bound,
  work: (number: number) => Promise<void>,
  rampMs = 0,
): Promise<number> => {
  const startedAt = performance.now();
  let started = 0;
  const { ms = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY } = bound;
  const isOver = (): boolean => started >= requests || performance.now() - startedAt >= ms;
  const worker = async (_: unknown, i: number): Promise<void> => {
    if (rampMs > 0) await delay((rampMs * i) / concurrency);
    while (!isOver()) await work(started++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return performance.now() - startedAt;
};
