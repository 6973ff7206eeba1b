import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const root = path.join(import.meta.dirname, '../..');
const pages = ['README.md', ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`)];
const documents = pages.filter((page) => page.endsWith('.md')).map((page) => [page, readFileSync(path.join(root, page), 'utf8')] as const);
const MAX_ARCHITECTURE_WORDS = 1_500;

test.each(documents)('%s names only files that exist', (_, text) => {
  const named = [...text.matchAll(/`((?:functions|shared|infra|test)\/[\w./-]+)`/g)].map(([, file = '']) => file);
  expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test.each(documents)('%s links only to pages that exist', (page, text) => {
  const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(path.join(root, path.dirname(page), link)))).toEqual([]);
});

test('docs/architecture.md is short enough to be read in one go', () => {
  const { 'docs/architecture.md': text = '' } = Object.fromEntries(documents);
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(MAX_ARCHITECTURE_WORDS);
});

test('the code keeps to the plan, and docs/architecture.md shows its folders', () => {
  expect(execFileSync(process.execPath, [path.join(import.meta.dirname, 'main.ts')], { encoding: 'utf8' })).toContain(', 0 departures');
});
