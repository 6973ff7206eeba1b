import { execFileSync } from 'node:child_process';

// Prints the least of some rounds, because the first ones still compile what they run.
const PROGRAM = `
const COUNT = 2_000;
const ROUNDS = 3;
const makeAll = () => {
  for (let i = 0; i < COUNT; i++) make(module);
};
const keptOnce = () => {
  makeAll();
  gc();
  const before = process.memoryUsage().heapUsed;
  makeAll();
  // The second one moves what survived the first.
  for (let i = 0; i < 2; i++) gc({ type: 'minor' });
  return (process.memoryUsage().heapUsed - before) / COUNT;
};
console.log(Math.min(...Array.from({ length: ROUNDS }, keptOnce)));
`;

/**
 * The bytes of each object made, and not referred to, that are still in memory after a collection of the young
 * generation. A process of its own measures them, because a worker's heap depends on the suites before.
 * @param url of the module that is given to `make`
 * @param make refers to nothing outside itself
 */
export const keptBytes = <Module>(url: string, make: (module: Module) => unknown): number => {
  const script = `import * as module from ${JSON.stringify(url)};\nconst make = ${make};\n${PROGRAM}`;
  const parameters = ['--no-warnings', '--expose-gc', '--input-type=module', '--eval', script];
  return Number(execFileSync(process.execPath, parameters, { encoding: 'utf8' }));
};
