import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

const COUNT = 2_000;

const ROUNDS = 3;

const keptOnce = (makeAll: () => void): number => {
  makeAll();
  collect();
  const before = process.memoryUsage().heapUsed;
  makeAll();
  // The second one moves what survived the first.
  for (let i = 0; i < 2; i++) collect({ type: 'minor' });
  return (process.memoryUsage().heapUsed - before) / COUNT;
};

/**
 * The bytes of each object made, and not referred to, that are still in memory after a collection of the young
 * generation: the least of some rounds, because other work of the process can fill memory during one.
 */
export const keptBytes = (make: () => unknown): number => {
  const makeAll = (): void => {
    for (let i = 0; i < COUNT; i++) make();
  };
  return Math.min(...Array.from({ length: ROUNDS }, () => keptOnce(makeAll)));
};
