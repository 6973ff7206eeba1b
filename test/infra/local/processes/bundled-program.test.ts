import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { bundledProgram } from '../../../../infra/local/processes/bundled-program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const MAIN = `
import { place } from './part.ts';
const value: string = 'import.meta.dirname';
console.log(JSON.stringify({ place, value, isMain: import.meta.main }));
`;
const PART = 'export const place: object = { folder: import.meta.dirname, url: import.meta.url, isMain: import.meta.main };';

test('a program runs from one file as from its sources, and is made again after one of them has changed', async () => {
  await using folder = temporaryFolder();
  const [main, part, kept] = ['main.ts', 'part.ts', 'kept'].map((name) => path.join(folder.path, name)) as [string, string, string];
  writeFileSync(main, MAIN);
  writeFileSync(part, PART);
  const first = await bundledProgram(main, kept);
  const print = (program: string): unknown => JSON.parse(execFileSync(process.execPath, [program]).toString());
  expect(print(first)).toEqual({
    place: { folder: folder.path, url: `file://${part}`, isMain: false },
    value: 'import.meta.dirname',
    isMain: true,
  });
  writeFileSync(first, 'console.log(1)');
  expect(await bundledProgram(main, kept)).toBe(first);
  expect(print(first)).toBe(1);
  writeFileSync(part, "export const place = 'elsewhere';");
  const second = await bundledProgram(main, kept);
  expect(print(second)).toMatchObject({ place: 'elsewhere' });
});

test('a program that several need at the same time is made once', async () => {
  await using folder = temporaryFolder();
  const [main, kept] = ['main.ts', 'kept'].map((name) => path.join(folder.path, name)) as [string, string];
  writeFileSync(main, 'console.log(1);');
  // A program that is made again is another file of the same name.
  const made = async (): Promise<number> => statSync(await bundledProgram(main, kept)).ino;
  const [first, ...others] = await Promise.all([made(), made(), made()]);
  expect(others).toEqual([first, first]);
});

const SERVER = `
import http, { createServer } from 'node:http';
import * as all from 'http';
const loadsFetch = process.moduleLoadList.some((name) => name.endsWith('/undici'));
console.log(JSON.stringify({ loadsFetch, isSame: createServer === http.createServer && createServer === all.createServer }));
`;

test('a program with an HTTP server does not load what only fetch needs', async () => {
  await using folder = temporaryFolder();
  const [main, kept] = ['main.ts', 'kept'].map((name) => path.join(folder.path, name)) as [string, string];
  writeFileSync(main, SERVER);
  const printed = execFileSync(process.execPath, [await bundledProgram(main, kept)]).toString();
  expect(JSON.parse(printed)).toEqual({ loadsFetch: false, isSame: true });
});
