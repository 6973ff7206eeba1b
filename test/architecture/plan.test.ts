import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkPlan } from './check-plan.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'sluice-plan-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const PROJECT_WITHOUT_DEPARTURES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'docs/architecture.md': '<!-- folders: written by `npm run format` -->\n```mermaid\n\n```\n<!-- /folders -->',
  'shared/ids/id.ts': 'export const id = 1;',
  'functions/a/handler.ts': "import { id } from '../../shared/ids/id.ts';\nexport const a = id;",
  'functions/b/handler.ts': "import { id } from '../../shared/ids/id.ts';\nexport const b = id;",
  'infra/app.ts': 'export const app = 1;',
  'test/a.test.ts': 'export const tested = 1;',
};

const check = async (files: Readonly<Record<string, string>>, isWriting = false): Promise<string[]> => {
  for (const [name, text] of Object.entries({ ...PROJECT_WITHOUT_DEPARTURES, ...files })) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return (await checkPlan(root, isWriting)).departures.map(({ rule, message }) => `${rule}: ${message}`);
};

test('passes a project that follows the plan and has a current diagram', async () => {
  expect(await check({})).toEqual(['diagram: docs/architecture.md shows other imports. Run npm run format.']);
  expect(await check({}, true)).toEqual([]);
});

test('ends with 1 and names each departure', async () => {
  const [departure = ''] = await check({});
  const main = path.join(import.meta.dirname, 'main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--root', root], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: `${departure}\n` });
  expect(stdout).toContain('1 departures from the plan');
});

describe('fails', () => {
  test.each([
    [
      'a cycle of files that only types make',
      'no-file-cycles: ',
      {
        'functions/a/one.ts': "import type { Two } from './two.ts';\nexport type One = Two;",
        'functions/a/two.ts': "import type { One } from './one.ts';\nexport type Two = One | 1;",
      },
    ],
    [
      'a cycle of folders without a cycle of files',
      'no-folder-cycles: ',
      {
        'functions/a/low/one.ts': "import type { High } from '../high/one.ts';\nexport type Low = High;",
        'functions/a/high/one.ts': 'export type High = 1;',
        'functions/a/high/two.ts': "import type { Base } from '../low/two.ts';\nexport type Higher = Base;",
        'functions/a/low/two.ts': 'export type Base = 1;',
      },
    ],
    [
      'a cycle of folders of shared/',
      'no-folder-cycles: ',
      {
        'shared/http/reply.ts': 'export const reply = 1;',
        'shared/http/reply-id.ts': "import { id } from '../ids/id.ts';\nexport const replyId = id;",
        'shared/ids/up.ts': "import { reply } from '../http/reply.ts';\nexport const up = reply;",
        'functions/a/reader.ts': "import { reply } from '../../shared/http/reply.ts';\nexport const reader = reply;",
      },
    ],
    [
      'a function that imports another one',
      'functions-stand-alone: functions/a/other.ts → functions/b/handler.ts',
      { 'functions/a/other.ts': "import { b } from '../b/handler.ts';\nexport const other = b;" },
    ],
    [
      'a file of shared/ that one function uses',
      'shared-is-for-two: shared/ids/alone.ts is used by functions/a alone: move it to functions/a/.',
      {
        'shared/ids/alone.ts': 'export const alone = 1;',
        'functions/a/reader.ts': "import { alone } from '../../shared/ids/alone.ts';\nexport const reader = alone;",
      },
    ],
    [
      'a file of shared/ that only the reference uses',
      'shared-is-for-two: shared/ids/documented.ts is used by no function',
      {
        'shared/ids/documented.ts': 'export const documented = 1;',
        'infra/tools/reference/one.ts': "import { documented } from '../../shared/ids/documented.ts';\nexport const one = documented;",
      },
    ],
    [
      'shared/ that imports a function',
      'shared-is-below-functions: ',
      { 'shared/ids/up.ts': "import { a } from '../../functions/a/handler.ts';\nexport const up = a;" },
    ],
    [
      'a function that imports infra/',
      'only-infra-imports-infra: ',
      { 'functions/a/where.ts': "import { app } from '../../infra/app.ts';\nexport const where = app;" },
    ],
    [
      'a folder of shared/ that imports a higher one',
      'shared-ids-points-down: ',
      {
        'shared/http/reply.ts': 'export const reply = 1;',
        'shared/ids/up.ts': "import { reply } from '../http/reply.ts';\nexport const up = reply;",
      },
    ],
    [
      'a folder with more than 25 files',
      'folders-are-small: test/a has 26 files, at most 25 are expected: move some to a folder.',
      Object.fromEntries(Array.from({ length: 26 }, (_, number) => [`test/a/file-${number}.ts`, 'export {};'])),
    ],
    [
      'an assembly that imports a tool',
      'the-assembly-is-below-its-readers: ',
      { 'infra/assembly/read.ts': "import '../tools/print.ts';", 'infra/tools/print.ts': 'export {};' },
    ],
    [
      'a folder of shared/ that is not in SHARED_FOLDERS',
      'shared-has-no-other-folders: ',
      { 'functions/a/odd.ts': "import '../../shared/odds/end.ts';", 'shared/odds/end.ts': 'export {};' },
    ],
  ])('%s', async (_, message, files) => {
    expect(await check(files)).toContainEqual(expect.stringContaining(message));
  });
});
