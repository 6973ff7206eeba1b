import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { LambdaFunction } from '../../infra/local/assembly/local-app.ts';
import { sum } from './statistics.ts';

const BYTES_PER_KB = 1_000;

/** The file from which a function's handler is imported. */
export const bundleFile = ({ folder, handler }: LambdaFunction): string => path.join(folder, `${handler.split('.')[0]}.mjs`);

/** The files of a bundle that its start loads: the imports of `import(…)` are loaded later. */
const filesAtStart = (file: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, imported = ''] of readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*"(\.\/[^"]+\.mjs)"/g))
    filesAtStart(path.join(path.dirname(file), imported), found);
  return found;
};

interface Size {
  minified: number;
  gzipped: number;
}

const sizeKb = (files: Iterable<string>): Size => {
  const contents = [...files].map((file) => readFileSync(file));
  const total = (lengths: number[]): number => sum(lengths) / BYTES_PER_KB;
  return { minified: total(contents.map(({ length }) => length)), gzipped: total(contents.map((bytes) => gzipSync(bytes).length)) };
};

/** The size of a bundle without its source maps, in kB of 1,000 bytes: of the files that its start loads, and of all. */
export const bundleSizes = (fn: LambdaFunction): { start: Size; all: Size } => {
  const index = bundleFile(fn);
  const folder = path.dirname(index);
  const files = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
  return { start: sizeKb(filesAtStart(index)), all: sizeKb(files.map((name) => path.join(folder, name))) };
};
