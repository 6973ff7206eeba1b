import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { cacheFolder } from '../processes/compile-cache.ts';

const SOURCE = path.join(import.meta.dirname, 'runtime.ts');
const HASH_CHARACTERS = 16;

// The program is made of the files of this folder.
const hashOfSources = (): string => {
  const hash = createHash('sha256');
  for (const file of globSync('*.ts', { cwd: import.meta.dirname }).sort()) hash.update(readFileSync(path.join(import.meta.dirname, file)));
  return hash.digest('hex').slice(0, HASH_CHARACTERS);
};

/**
 * Writes the program of function processes as one file of JavaScript, unless it exists. To run its TypeScript, each
 * process would load Node's compiler for it, which takes 10 MiB that a function on Lambda doesn't need.
 * @returns the file
 */
export const writeRuntimeProgram = (folder = cacheFolder): string => {
  const outfile = path.join(folder, `runtime-${hashOfSources()}.mjs`);
  if (existsSync(outfile)) return outfile;
  mkdirSync(folder, { recursive: true });
  const draft = `${outfile}.${process.pid}.mjs`;
  buildSync({
    entryPoints: [SOURCE],
    outfile: draft,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  // Another run may write it at the same time.
  renameSync(draft, outfile);
  return outfile;
};
