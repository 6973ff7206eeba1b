import { setTimeout as delay } from 'node:timers/promises';

/**
 * Starts `count` pieces of work, one every `1 / perSecond` seconds, however long each of them takes, and waits for the
 * last of them.
 */
export const startAtRate = async <Result>(perSecond: number, count: number, work: () => Promise<Result>): Promise<Result[]> => {
  const startedAt = performance.now();
  const all: Promise<Result>[] = [];
  for (let number = 0; number < count; number += 1) {
    const waitMs = startedAt + (number * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await delay(waitMs);
    all.push(work());
  }
  return Promise.all(all);
};
