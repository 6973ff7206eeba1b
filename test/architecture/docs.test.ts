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

// As GitHub makes them.
const anchorsOf = (text: string): string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(documents)('%s links only to headings that exist', (page, text) => {
  const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#]*)#([^)]+)\)/g)].filter(
    ([, file = '']) => file === '' || file.endsWith('.md'),
  );
  const missing = links.filter(([, file = '', anchor = '']) => {
    const target = file === '' ? page : path.join(path.dirname(page), file);
    return !anchorsOf(readFileSync(path.join(root, target), 'utf8')).includes(anchor);
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

test('docs/operations.md only says where its parts went', () => {
  const { 'docs/operations.md': text = '' } = Object.fromEntries(documents);
  expect(text.split('\n').length).toBeLessThanOrEqual(30);
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
