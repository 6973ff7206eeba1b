import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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
