import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { chatFields } from '../../functions/inference/chat/request.ts';

const root = path.join(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/interface.md'), 'utf8');
const sections = [...page.matchAll(/^#{2,3} (\d(?:\.\d)?) /gm)].map(([, number = '']) => number);
const sources = globSync('{functions,shared,infra,test}/**/*.ts', { cwd: root });

const citationsIn = (text: string): string[] =>
  [...text.matchAll(/\binterface (\d(?:\.\d)?(?:(?:, | and )\d\.\d)*)/gi)].flatMap(([, numbers = '']) => numbers.split(/, | and /));

describe('docs/interface.md', () => {
  test('has each section that a source file or a test cites', () => {
    const cited = sources.flatMap((file) =>
      citationsIn(readFileSync(path.join(root, file), 'utf8')).map((number) => `${number} in ${file}`),
    );
    expect(cited.length).toBeGreaterThan(20);
    expect(cited.filter((citation) => !sections.includes(citation.slice(0, citation.indexOf(' '))))).toEqual([]);
  });

  test('numbers each section once', () => {
    expect(sections).toEqual([...new Set(sections)].sort());
  });

  test('lists the fields of a chat completion request in the order of the schema', () => {
    const [, section = ''] = page.split(/^### 2\.1 .*$/m);
    const [table = ''] = section.split(/^### /m);
    expect([...table.matchAll(/^\| `(\w+)` /gm)].map(([, field]) => field)).toEqual(chatFields.filter((field) => field !== 'models'));
  });
});
