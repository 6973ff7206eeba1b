import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { KEPT_BUNDLES, keepBundle } from '../../../infra/bundling/keep-bundle.ts';
import { takeLock } from '../../../infra/bundling/take-lock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const openBundles = () => {
  const folder = temporaryFolder();
  const kept = path.join(folder.path, 'kept');
  mkdirSync(kept);
  let made = 0;
  return {
    kept,
    /** Returns the text of the bundle, which says how many were made before it. */
    bundle: (wanted: object): string => {
      const output = path.join(folder.path, `output-${readdirSync(folder.path).length}`);
      mkdirSync(output);
      keepBundle(wanted, output, () => writeFileSync(path.join(output, 'index.mjs'), String(made++)));
      return readFileSync(path.join(output, 'index.mjs'), 'utf8');
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
};

test('a bundle is made once for what is wanted, and copied after that', async () => {
  await using bundles = openBundles();
  process.env[KEPT_BUNDLES] = bundles.kept;
  expect([{ entry: 'a' }, { entry: 'a' }, { entry: 'b' }, { entry: 'a' }].map(bundles.bundle)).toEqual(['0', '0', '1', '0']);
  expect(readdirSync(bundles.kept)).toHaveLength(2);
});

test('a bundle that is deployed is always made', async () => {
  await using bundles = openBundles();
  delete process.env[KEPT_BUNDLES];
  expect([{ entry: 'a' }, { entry: 'a' }].map(bundles.bundle)).toEqual(['0', '1']);
});

// The highest process id of Linux is 4,194,304.
const DEAD = '4194305';

// The folder of a bundle that is kept.
const keptOf = (bundles: ReturnType<typeof openBundles>): string => {
  bundles.bundle({ entry: 'a' });
  const [name = ''] = readdirSync(bundles.kept);
  return path.join(bundles.kept, name);
};

test('a bundle is made if the synthesis that was making it was killed', async () => {
  await using bundles = openBundles();
  process.env[KEPT_BUNDLES] = bundles.kept;
  const kept = keptOf(bundles);
  rmSync(kept, { recursive: true });
  writeFileSync(`${kept}.lock.${DEAD}.killed`, '');
  expect(bundles.bundle({ entry: 'a' })).toBe('1');
  expect(readdirSync(bundles.kept)).toEqual([path.basename(kept)]);
});

// Bundles in a thread of its own, because a synthesis waits without promises. It says when it waits for the first time.
const BUNDLER = `
import { writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { keepBundle } from ${JSON.stringify(import.meta.resolve('../../../infra/bundling/keep-bundle.ts'))};
const { wait } = Atomics;
Atomics.wait = (...parameters) => {
  parentPort.postMessage('waits');
  return wait(...parameters);
};
keepBundle({ entry: 'a' }, workerData, () => writeFileSync(workerData + '/index.mjs', 'made again'));
`;

test('a bundle that another synthesis is making is waited for', async () => {
  await using bundles = openBundles();
  process.env[KEPT_BUNDLES] = bundles.kept;
  const kept = keptOf(bundles);
  const hidden = path.join(bundles.kept, 'hidden');
  renameSync(kept, hidden);
  const release = takeLock(`${kept}.lock`) as () => void;
  await using output = temporaryFolder();
  const bundler = new Worker(new URL(`data:text/javascript,${encodeURIComponent(BUNDLER)}`), { workerData: output.path, env: process.env });
  const exit = once(bundler, 'exit');
  await Promise.race([once(bundler, 'message'), exit]);
  renameSync(hidden, kept);
  release();
  expect(await exit).toEqual([0]);
  expect(readFileSync(path.join(output.path, 'index.mjs'), 'utf8')).toBe('0');
});
