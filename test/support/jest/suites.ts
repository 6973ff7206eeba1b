import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../..');

/** All test files, by their paths under the project's root. */
export const allSuites = (): string[] => globSync('test/**/*.test.ts', { cwd: ROOT }).sort();

// They start the local run, the model's container, a synthesis or programs of ours, break calls, or have a larger size.
const SLOW = [
  'infra/local/model-server/server.ts',
  'infra/local/container.ts',
  'infra/local/run.ts',
  'infra/assembly/read-templates.ts',
  'test/support/clients/local-run.ts',
  'test/support/assembly/templates.ts',
  'test/support/faults/byte-fault-proxy.ts',
  'test/support/faults/crashing-process.ts',
  'test/support/faults/fault-proxy.ts',
  'test/support/faults/unreliable-database.ts',
  'test/support/sized.ts',
];
// Their suites repeat something hundreds of times, or start programs by their paths.
const SLOW_FOLDERS = /^test\/(?:architecture|e2e|load|security|upgrade|contract|infra\/(?:stacks|tools))\//;

const importsOf = new Map<string, string[]>();

const imports = (file: string): string[] => {
  const known = importsOf.get(file);
  if (known) return known;
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const found = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    .map(([, place = '']) => path.join(path.dirname(file), place))
    .filter((place) => existsSync(path.join(ROOT, place)));
  importsOf.set(file, found);
  return found;
};

// Directly or not.
const reachesSlow = (suite: string): boolean => {
  const seen = new Set([suite]);
  for (const file of seen) {
    if (SLOW.includes(file)) return true;
    for (const imported of imports(file)) seen.add(imported);
  }
  return false;
};

/**
 * True for a test file that needs no local run, no container, no synthesis of its own and no large random run.
 * @param suite its path under the project's root
 */
export const isQuick = (suite: string): boolean => !SLOW_FOLDERS.test(suite) && !reachesSlow(suite);
