import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { load, withChanges } from '../../../support/emulators/tokenizers.ts';

// A thread that counts words of rare letters, and sends the most megabytes that its heap has grown by.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heapMb = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 1e6;
};
const rareLetters = (length: number): string =>
  String.fromCharCode(...Array.from({ length }, () => 0x4e00 + Math.floor(Math.random() * 20_000)));

const { createCounter } = load(withChanges({}));
const before = heapMb();
let most = 0;
for (let i = 0; i < 6; i++) {
  createCounter().count(Array.from({ length: 2_000 }, () => rareLetters(workerData as number)).join(' '));
  most = Math.max(most, heapMb() - before);
}
parentPort?.postMessage(most);
