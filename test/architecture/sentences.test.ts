import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { unclearSentences } from './sentences.ts';

const faultsOf = async (source: string, file = 'test/a.test.ts'): Promise<string[]> => {
  await using folder = temporaryFolder();
  mkdirSync(path.join(folder.path, path.dirname(file)), { recursive: true });
  writeFileSync(path.join(folder.path, file), source);
  return unclearSentences(folder.path, [file]).map(({ message }) => message);
};

describe('unclearSentences', () => {
  test.each([
    ['/** What an invoice bills. */\nexport const bill = 1;', '1 begins with What, Whether, Who or Of: name the thing'],
    ['// Of one read.\nconst MAX = 1;', '1 begins with What, Whether, Who or Of: name the thing'],
    ['const a = 1;\n// Whether it is open.\nconst isOpen = true;', '2 begins with What, Whether, Who or Of: name the thing'],
    ['/** Half an hour. */\nconst WAIT = 1;', '1 documents a private name: rename it, or say why in a comment with //'],
    [`// ${'word '.repeat(24)}end\nconst a = 1;`, '1 has a line of more than 120 columns'],
    ['// One.\n// Two.\n// Three.\n// Four.\nconst a = 1;', '1 has more than 3 lines'],
    [
      "describe('close', () => {\n  test('of a month', () => undefined);\n});",
      '2 begins with half a sentence: name the unit in describe, and begin with a verb',
    ],
    [`test('${'closes '.repeat(15)}', () => undefined);`, '1 has 105 characters, at most 100 are expected'],
  ])('rejects %j', async (source, fault) => {
    expect(await faultsOf(source)).toEqual([`test/a.test.ts:${fault}.`]);
  });

  test('reads the components of the console, too', async () => {
    const file = 'console/pages/usage/screen.tsx';
    expect(await faultsOf('/** What was used. */\nexport const Usage = () => null;', file)).toEqual([
      `${file}:1 begins with What, Whether, Who or Of: name the thing.`,
    ]);
  });

  test('accepts a comment that says why, a documented export and a title that begins with a verb', async () => {
    const why = '// The receiver counts twice what it gets twice.\nconst once = true;';
    const exported = '/** Returns the charges in nano-dollars. */\nexport const chargesOf = () => 1n;';
    expect(await faultsOf(`${why}\n${exported}\ntest('closes a month', () => undefined);`)).toEqual([]);
  });
});
