import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as z from 'zod';
import type { LambdaFunction } from '../../infra/assembly/local-app.ts';
import { RELEASE_FILE, Release } from '../../infra/local/lambda/other-release.ts';

/** The last release's bundles, for clones without tags. */
export const LAST_RELEASE = path.join(import.meta.dirname, 'last-release.br');

// Requests, their settlement, their totals and the keys need these functions.
const KEPT = [
  'inference',
  'catalog',
  'ondemand-inference',
  'ondemand-catalog',
  'tokenizer',
  'metering',
  'rollup',
  'refusals',
  'control',
  'sign-in',
];
const MAX_BYTES = 64 * 1_024 * 1_024;

// The scripts of each bundle by name. Functions with the same code have the same folder.
const Archive = Release.extend({ folders: z.record(z.string(), z.record(z.string(), z.string())) });

// Source maps, fonts and the pages of the reference are left out: they are most of a bundle's size, and no state
// depends on them.
const scriptsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.endsWith('.mjs'))
      .sort()
      .map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
  );

/** Packs the functions of an assembly as a release. */
export const packRelease = (version: string, functions: readonly LambdaFunction[]): Buffer => {
  const kept = KEPT.flatMap((name) => functions.filter(({ shortName }) => shortName === name));
  const nameOf = ({ folder }: LambdaFunction): string => path.basename(folder);
  const archive: z.infer<typeof Archive> = {
    version,
    functions: kept.map((fn) => {
      const { shortName, handler, environment, timeoutMs, memoryMiB } = fn;
      return { shortName, folder: nameOf(fn), handler, environment, timeoutMs, memoryMiB };
    }),
    folders: Object.fromEntries(kept.map((fn) => [nameOf(fn), scriptsOf(fn.folder)])),
  };
  const { BROTLI_PARAM_LGWIN: window, BROTLI_MAX_WINDOW_BITS: bits } = constants;
  return brotliCompressSync(JSON.stringify(archive), { params: { [window]: bits } });
};

const read = (file: string): z.infer<typeof Archive> =>
  Archive.parse(JSON.parse(brotliDecompressSync(readFileSync(file), { maxOutputLength: MAX_BYTES }).toString()));

export const versionOf = (file: string): string => read(file).version;

/**
 * Unpacks a release for `npm start -- --second-release`.
 * @param of a function, to try what a release with other code would do
 * @param change the text of each of its scripts before it is written
 */
export const unpackRelease = (
  file: string,
  folder: string,
  { of, change }: { of?: string; change?: (script: string) => string } = {},
): void => {
  const { folders, ...release } = read(file);
  const changed = release.functions.find(({ shortName }) => shortName === of)?.folder;
  for (const [name, scripts] of Object.entries(folders)) {
    mkdirSync(path.join(folder, name), { recursive: true });
    const written = name === changed && change ? change : (script: string): string => script;
    for (const [script, text] of Object.entries(scripts)) writeFileSync(path.join(folder, name, script), written(text));
  }
  writeFileSync(path.join(folder, RELEASE_FILE), JSON.stringify(release));
};
