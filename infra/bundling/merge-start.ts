import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';

type Outputs = Metafile['outputs'];

// Imports by `import(…)` are loaded later, and don't count.
const outputsOfStart = (outputs: Outputs, file: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(file)) return found;
  found.add(file);
  for (const { path: imported, kind } of outputs[file]?.imports ?? [])
    if (kind === 'import-statement' && outputs[imported]) outputsOfStart(outputs, imported, found);
  return found;
};

// Chunks export the same short names, so the merged file needs other ones.
const mergedName = (chunk: number, name: string): string => `c${chunk}_${name}`;

/**
 * Merges a split bundle's entry with the chunks that it imports at its start into one file, because a cold start
 * takes about half a millisecond for each file. Code that is loaded later still imports these chunks: what is left of
 * them passes on the exports of the merged file.
 * @param entry of the bundle, in `folder`
 * @param metafile of the split bundle
 * @param options of the split bundle
 */
export const mergeStart = (folder: string, entry: string, { outputs }: Metafile, options: BuildOptions): void => {
  const nameOf = (output: string): string => `./${path.basename(output)}`;
  const isOfEntry = (output: string): boolean => nameOf(output) === entry;
  const scripts = Object.keys(outputs).filter((output) => output.endsWith('.mjs'));
  const start = outputsOfStart(outputs, scripts.find(isOfEntry) as string);
  const later = scripts.filter((output) => !start.has(output));
  const usedLater = new Set(later.flatMap((output) => (outputs[output]?.imports ?? []).map(({ path: imported }) => imported)));
  const chunks = [...start].filter((output) => !isOfEntry(output));
  const passedOn = chunks.filter((output) => usedLater.has(output));
  const exportsOf = (output: string): string[] => outputs[output]?.exports ?? [];

  const merged = passedOn.map((output, i) => {
    const names = exportsOf(output).map((name) => `${name} as ${mergedName(i, name)}`);
    return `export {${names.join()}} from ${JSON.stringify(nameOf(output))};`;
  });
  buildSync({
    ...options,
    stdin: { contents: [`export * from ${JSON.stringify(entry)};`, ...merged].join('\n'), resolveDir: folder, sourcefile: 'start.mjs' },
    outfile: path.join(folder, entry),
    allowOverwrite: true,
    external: later.map(nameOf),
  });
  for (const output of chunks) for (const end of ['', '.map']) rmSync(path.join(folder, nameOf(output) + end));
  for (const [i, output] of passedOn.entries()) {
    const names = exportsOf(output).map((name) => `${mergedName(i, name)} as ${name}`);
    writeFileSync(path.join(folder, nameOf(output)), `export{${names.join()}}from${JSON.stringify(entry)};\n`);
  }
};
