import path from 'node:path';
import { buildSync } from 'esbuild';

const SOURCE = path.join(import.meta.dirname, 'runtime.ts');

/**
 * Writes the program of function processes as one file of JavaScript. To run its TypeScript, each process would load Node's compiler for it, which takes
 * 10 MiB that a function on Lambda doesn't need.
 * @returns the file
 */
export const writeRuntimeProgram = (folder: string): string => {
  const outfile = path.join(folder, 'runtime.mjs');
  buildSync({
    entryPoints: [SOURCE],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    logLevel: 'warning',
  });
  return outfile;
};
