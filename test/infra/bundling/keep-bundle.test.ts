import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { KEPT_BUNDLES, keepBundle } from '../../../infra/bundling/keep-bundle.ts';
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

const lockOf = (bundles: ReturnType<typeof openBundles>): string => {
  bundles.bundle({ entry: 'a' });
  const [name = ''] = readdirSync(bundles.kept);
  return path.join(bundles.kept, `${name}.lock`);
};

test('a bundle is made if the synthesis that was making it was killed', async () => {
  await using bundles = openBundles();
  process.env[KEPT_BUNDLES] = bundles.kept;
  const lock = lockOf(bundles);
  renameSync(lock.replace('.lock', ''), path.join(bundles.kept, 'earlier'));
  writeFileSync(lock, DEAD);
  expect(bundles.bundle({ entry: 'a' })).toBe('1');
  expect(existsSync(lock)).toBe(false);
});

// Bundles in a thread of its own, because a synthesis waits without promises.
const BUNDLER = `
import { writeFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { keepBundle } from ${JSON.stringify(import.meta.resolve('../../../infra/bundling/keep-bundle.ts'))};
keepBundle({ entry: 'a' }, workerData, () => writeFileSync(workerData + '/index.mjs', 'made again'));
`;

test('a bundle that another synthesis is making is waited for', async () => {
  await using bundles = openBundles();
  process.env[KEPT_BUNDLES] = bundles.kept;
  const lock = lockOf(bundles);
  const kept = lock.replace('.lock', '');
  const [hidden, second] = ['hidden', 'second'].map((name) => path.join(bundles.kept, name)) as [string, string];
  renameSync(kept, hidden);
  // A reader of a pipe waits for its writer, so it is known when the lock is read for the second time.
  execFileSync('mkfifo', [lock, second]);
  await using output = temporaryFolder();
  const bundler = new Worker(new URL(`data:text/javascript,${encodeURIComponent(BUNDLER)}`), { workerData: output.path, env: process.env });
  const exit = once(bundler, 'exit');
  const first = await open(lock, 'w');
  renameSync(second, lock);
  await first.writeFile(String(process.pid));
  await first.close();
  const again = await Promise.race([open(lock, 'w'), exit]);
  renameSync(hidden, kept);
  if (!Array.isArray(again)) {
    await again.writeFile(String(process.pid));
    await again.close();
  }
  expect(await exit).toEqual([0]);
  expect(readFileSync(path.join(output.path, 'index.mjs'), 'utf8')).toBe('0');
});
