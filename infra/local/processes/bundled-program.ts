import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';
import * as z from 'zod';
import { makeOnce } from '../../bundling/make-once.ts';
import { cacheFolder } from './compile-cache.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
// npm writes it when it changes packages.
const PACKAGES = 'node_modules/.package-lock.json';
// A change of how bundles are made makes all of them again.
const OWN_FILE = 'infra/local/processes/bundled-program.ts';
const HASH_CHARACTERS = 16;

// A bundle that was made, and when its sources were last changed.
const Made = z.object({ bundle: z.string(), changedMs: z.record(z.string(), z.number()) });

const changedMsOf = (source: string): number => statSync(path.join(ROOT, source), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const readMade = (record: string): string | undefined => {
  if (!existsSync(record)) return undefined;
  const { bundle, changedMs } = Made.parse(JSON.parse(readFileSync(record, 'utf8')));
  const isCurrent = existsSync(bundle) && Object.entries(changedMs).every(([source, ms]) => changedMsOf(source) === ms);
  return isCurrent ? bundle : undefined;
};

// Other processes may write it at the same time.
const write = (file: string, content: string | Uint8Array): void => {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, file);
};

// Modules find files by their own places.
const ownPlaces = (entry: string): Plugin => ({
  name: 'own-places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const define = {
        'import.meta.dirname': JSON.stringify(path.dirname(file)),
        'import.meta.url': JSON.stringify(pathToFileURL(file).href),
        'import.meta.main': String(file === entry),
      };
      const { code } = await transform(await readFile(file, 'utf8'), { loader: 'ts', target: 'node24', define });
      return { contents: code };
    }),
});

// An import reads all exports of a module, and so loads what Node would load later: 28 ms more for node:http, 2 to 4
// for the others.
const BUILTIN = /^(?:node:)?(crypto|fs|http|https|process|stream|util|zlib)$/;

const lateBuiltins: Plugin = {
  name: 'late-builtins',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: BUILTIN }, ({ path: module }) => ({ path: module.replace(BUILTIN, '$1'), namespace: 'builtin' }));
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule('${name}');`,
    }));
  },
};

interface Wanted {
  entry: string;
  name: string;
  folder: string;
  record: string;
}

const make = async ({ entry, name, folder, record }: Wanted): Promise<string> => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    // It starts a program that lies beside it.
    external: ['esbuild'],
    // Some CommonJS packages call require().
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    plugins: [lateBuiltins, ownPlaces(entry)],
    logLevel: 'warning',
  });
  const contents = Buffer.concat(outputFiles.map((file) => file.contents));
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, HASH_CHARACTERS);
  const bundle = path.join(folder, `${name}-${hash}.mjs`);
  const sources = [...Object.keys(metafile.inputs).filter((source) => !/^(?:node_modules\/|builtin:)/.test(source)), PACKAGES, OWN_FILE];
  write(bundle, contents);
  write(record, JSON.stringify({ bundle, changedMs: Object.fromEntries(sources.map((source) => [source, changedMsOf(source)])) }));
  return bundle;
};

/**
 * Makes a program of ours one file of JavaScript, unless nothing has changed since it was made. A process that runs the
 * file loads half as long as one that runs the sources. Processes that need it at the same time wait for one of them.
 * @param entry its main file
 * @returns the file
 * @throws Error if another process doesn't end what it makes
 */
export const bundledProgram = (entry: string, folder = cacheFolder): Promise<string> => {
  const name = path.relative(ROOT, entry).replaceAll(/[/.]/g, '-');
  const record = path.join(folder, `${name}.json`);
  mkdirSync(folder, { recursive: true });
  return makeOnce({
    lock: path.join(folder, `${name}.lock`),
    task: `made ${name}`,
    find: () => readMade(record),
    make: () => make({ entry, name, folder, record }),
  });
};
