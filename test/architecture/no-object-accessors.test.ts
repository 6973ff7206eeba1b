import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const ROOT = path.join(import.meta.dirname, '../..');
const CONFIGURATION = ['biome.json', 'test/architecture/no-object-accessors.grit'];
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'sluice-lint-'));
  for (const file of CONFIGURATION) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    copyFileSync(path.join(ROOT, file), path.join(root, file));
  }
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const errorsOf = (file: string, text: string): string => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
  try {
    execFileSync(process.execPath, [biome, 'lint', file], { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
};

const GETTER = 'export const count = () => ({\n  get value() {\n    return 1;\n  },\n});\n';
const SETTER = 'export const count = () => ({\n  set value(next: number) {\n    console.log(next);\n  },\n});\n';
const CLASS = 'export class Count {\n  get value() {\n    return 1;\n  }\n}\n';

test('lint fails on an accessor of an object literal in code that functions run', () => {
  for (const file of ['functions/a/count.ts', 'shared/a/count.ts'])
    for (const text of [GETTER, SETTER]) expect(errorsOf(file, text)).toContain('stays in memory long after its object');
  expect(errorsOf('functions/a/count.ts', CLASS)).toBe('');
  expect(errorsOf('infra/a/count.ts', GETTER)).toBe('');
});
