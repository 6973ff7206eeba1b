import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { homonyms } from './homonyms.ts';

const find = async (files: Readonly<Record<string, string>>): Promise<string[]> => {
  await using folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder.path, name)), { recursive: true });
    writeFileSync(path.join(folder.path, name), text);
  }
  return homonyms(folder.path, Object.keys(files)).map(({ message }) => message);
};

const TWO = { 'functions/a/bill.ts': 'export interface Bill {}', 'shared/b/bill.ts': 'export type Bill = 1;\nexport const Bill = 1;' };

describe('homonyms', () => {
  test('names both files that export the same name', async () => {
    expect(await find(TWO)).toEqual(['functions/a/bill.ts and shared/b/bill.ts export Bill: rename the narrower one.']);
  });

  test('accepts a name that one file exports twice', async () => {
    expect(await find({ 'shared/b/bill.ts': TWO['shared/b/bill.ts'] })).toEqual([]);
  });
});
