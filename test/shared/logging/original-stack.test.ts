import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { buildSync } from 'esbuild';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-stack-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const log = path.join(import.meta.dirname, '../../../shared/logging/log.ts');

const stackLoggedByBundle = ({ sourcemap }: { sourcemap: boolean }): string => {
  const entry = path.join(folder, 'program.ts');
  writeFileSync(
    entry,
    `import { logError } from ${JSON.stringify(log)};\n\nconst fail = (): never => {\n  throw new Error('at line 4');\n};\ntry {\n  fail();\n} catch (error) {\n  logError('failed', error);\n}\n`,
  );
  const outfile = path.join(folder, 'out', 'index.mjs');
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    minify: true,
    sourcemap,
    sourcesContent: false,
  });
  return JSON.parse(execFileSync(process.execPath, [outfile], { encoding: 'utf8' })).stack;
};

test('names our sources in the stack of a logged failure', () => {
  const stack = stackLoggedByBundle({ sourcemap: true });
  expect(stack).toMatch(/\bprogram\.ts:4:\d+/);
  expect(stack).not.toContain('index.mjs');
});

test('names the bundle without a source map', () => {
  expect(stackLoggedByBundle({ sourcemap: false })).toMatch(/\/out\/index\.mjs:\d+:\d+/);
});
