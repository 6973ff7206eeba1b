import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'esbuild';

// The modules of the page and its shell; most screens use nearly all of the shared folders.
const START = ['console/design/styles.ts', 'console/app/app.tsx', 'console/app/signed-in.tsx'];
const SHARED = /^console\/(?:client|design)\//;
const LATER = 'later';

const importedLater = (root: string, file: string): string[] =>
  [...readFileSync(path.join(root, file), 'utf8').matchAll(/\bimport\('([^']+)'\)/g)].map(([, imported = '']) =>
    path.join(path.dirname(file), imported),
  );

/**
 * Makes few files of what screens share. esbuild writes a file for each set of entries that reach the same modules, so
 * all that is loaded later imports what is loaded before it, and the modules of the page and its shell have one set.
 */
export const fewChunks = (root: string): Plugin => ({
  name: 'few-chunks',
  setup: ({ onResolve, onLoad }) => {
    const modules = globSync('console/**/*.{ts,tsx}', { cwd: root }).sort();
    const later = new Set(modules.flatMap((file) => importedLater(root, file)));
    const before = [...START, ...modules.filter((file) => SHARED.test(file) && !later.has(file))];
    onResolve({ filter: /^\./ }, ({ kind, path: imported, resolveDir }) =>
      kind === 'dynamic-import' ? { path: path.relative(root, path.join(resolveDir, imported)), namespace: LATER } : undefined,
    );
    onLoad({ filter: /^/, namespace: LATER }, ({ path: file }) => ({
      contents: [...before.map((one) => `import './${one}';`), `export * from './${file}';`].join('\n'),
      resolveDir: root,
      loader: 'ts',
    }));
  },
});
