import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { takeLock } from '../../../infra/bundling/take-lock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TAKERS = 4;
const ROUNDS = 100;
// The highest process id of Linux is 4,194,304.
const DEAD = 4_194_305;

const folder = temporaryFolder();
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

let lock: string;
let number = 0;
beforeEach(() => {
  lock = path.join(folder.path, `lock-${number++}`);
});
const files = (): string[] => readdirSync(folder.path).filter((name) => name.startsWith(`${path.basename(lock)}.`));

const start = (program: string): ChildProcess =>
  spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', `${IMPORT}\n${program}`, lock], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const IMPORT = `
import { takeLock } from ${JSON.stringify(import.meta.resolve('../../../infra/bundling/take-lock.ts'))};
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
const lock = process.argv[1];`;

const HOLDER = `
takeLock(lock);
console.log('taken');
setInterval(() => {}, 1_000);`;

// A second owner at the same time fails at the file that the first one has created. Each owner leaves what a killed
// process leaves, so that all takers remove files in every round.
const TAKER = `
const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
for (let round = 0; round < ${ROUNDS}; ) {
  const release = takeLock(lock);
  if (typeof release !== 'function') {
    wait(3 * Math.random());
    continue;
  }
  closeSync(openSync(lock + '-owned', 'wx'));
  wait(1);
  rmSync(lock + '-owned');
  writeFileSync(lock + '.${DEAD}.' + process.pid + '-' + round++, '');
  release();
}`;

describe('a lock', () => {
  test('is held by one taker, who is named, until it is released', () => {
    const release = takeLock(lock) as () => void;
    expect(takeLock(lock)).toBe(process.pid);
    expect(takeLock(`${lock}0`)).toBeInstanceOf(Function);
    release();
    expect(files()).toEqual([]);
    expect(takeLock(lock)).toBeInstanceOf(Function);
  });

  test('is free once its owner was killed', async () => {
    const owner = start(HOLDER);
    await once(owner.stdout as NonNullable<typeof owner.stdout>, 'data');
    expect(takeLock(lock)).toBe(owner.pid);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(files()).toHaveLength(1);
    const release = takeLock(lock) as () => void;
    expect(files()).toEqual([expect.stringContaining(`.${process.pid}.`)]);
    release();
  });

  test('never has two owners, also if all of them find the file of a killed one at the same time', async () => {
    writeFileSync(`${lock}.${DEAD}.killed`, '');
    const takers = Array.from({ length: TAKERS }, () => start(TAKER));
    const ends = await Promise.all(
      takers.map(async (taker) => {
        const [errors, [code]] = await Promise.all([text(taker.stderr as NonNullable<typeof taker.stderr>), once(taker, 'exit')]);
        return { code, errors };
      }),
    );
    expect(ends).toEqual(takers.map(() => ({ code: 0, errors: '' })));
  });
});
