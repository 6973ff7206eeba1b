import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const folder = path.join(import.meta.dirname, '../../docs/decisions');
const files = readdirSync(folder).filter((name) => name !== 'README.md');
const titleOf = (file: string): string => readFileSync(path.join(folder, file), 'utf8').match(/^# (.+)$/m)?.[1] ?? '';
const rows = [...readFileSync(path.join(folder, 'README.md'), 'utf8').matchAll(/^\| (\d{4}) +\| \[(.+?)\]\((.+?)\) +\|(.+)\|$/gm)].map(
  ([, number = '', title = '', file = '', rest = '']) => ({ number, title, file, cells: rest.split('|').map((cell) => cell.trim()) }),
);

const ARTICLES = new Set(['a', 'an', 'the']);
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word && !ARTICLES.has(word));

describe('docs/decisions/README.md', () => {
  test('lists every decision in the order of the numbers, with its title', () => {
    expect(rows.map(({ number, title, file }) => [number, title, file])).toEqual(
      files.map((file) => [file.slice(0, 4), titleOf(file), file]),
    );
  });

  test('gives each decision an area, a status and a date', () => {
    for (const { cells } of rows)
      expect(cells).toEqual([
        expect.stringMatching(/^[a-z][a-z -]+$/),
        expect.stringMatching(/^(in force|partly superseded by \[\d{4}\]|superseded by \[\d{4}\])/),
        expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
      ]);
  });
});

describe('a decision', () => {
  test.each(files)('%s has the words of its title in its name, and a number of its own', (file) => {
    expect(wordsOf(file.slice('0000-'.length, -'.md'.length))).toEqual(wordsOf(titleOf(file)));
    expect(files.filter((other) => other.startsWith(file.slice(0, 4)))).toEqual([file]);
  });
});
