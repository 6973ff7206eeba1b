import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { LambdaFunction } from '../../../infra/assembly/local-app.ts';

/** The file from which a function's handler is imported. */
export const bundleFile = ({ folder, handler }: LambdaFunction): string => path.join(folder, `${handler.split('.')[0]}.mjs`);

// Imports by `import(…)` are loaded later.
const filesAtStart = (file: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, imported = ''] of readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*"(\.\/[^"]+\.mjs)"/g))
    filesAtStart(path.join(path.dirname(file), imported), found);
  return found;
};

/**
 * The files of a function's code, without source maps: those that its start loads, and those that are loaded when a
 * request needs them.
 */
export const bundleFiles = (fn: LambdaFunction): { start: string[]; later: string[] } => {
  const index = bundleFile(fn);
  const folder = path.dirname(index);
  const start = filesAtStart(index);
  const files = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
  return { start: [...start], later: files.map((name) => path.join(folder, name)).filter((file) => !start.has(file)) };
};
