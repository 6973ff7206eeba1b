import { once } from 'node:events';
import { cpus } from 'node:os';
import { Worker } from 'node:worker_threads';

// More than the caches of a core and those that the cores share.
const WALKED_BYTES = 96 * 1024 * 1024;
const CACHE_LINE_BYTES = 64;

// Reads and writes a byte of each cache line when it gets a message.
const WALKER = `
const { parentPort } = require('node:worker_threads');
const memory = new Uint8Array(${WALKED_BYTES});
parentPort.on('message', () => {
  for (let at = 0; at < memory.length; at += ${CACHE_LINE_BYTES}) memory[at]++;
  parentPort.postMessage('walked');
});
`;

/** Makes the caches of all cores cold, as they are when another customer's functions ran before. */
export interface ColdCaches {
  walk(): Promise<void>;
  close(): Promise<void>;
}

export const createColdCaches = (): ColdCaches => {
  const walkers = cpus().map(() => new Worker(WALKER, { eval: true }));
  return {
    walk: async () => {
      for (const walker of walkers) walker.postMessage('walk');
      await Promise.all(walkers.map((walker) => once(walker, 'message')));
    },
    close: async () => {
      await Promise.all(walkers.map((walker) => walker.terminate()));
    },
  };
};
