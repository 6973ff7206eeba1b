import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { runAdmin } from '../admin/run-admin.ts';

const document = readFileSync(path.join(import.meta.dirname, '../../../../docs/deploy.md'), 'utf8');
const [, modelFile = ''] = /```json\n([\s\S]*?)```/.exec(document) ?? [];
const blocks = [...document.matchAll(/```console\n([\s\S]*?)```/g)].map(([, text = '']) => text);

// Commands that need no other service, with the output that the document shows.
const commands = blocks
  .flatMap((block) => block.split(/^\$ /m).slice(1))
  .flatMap((entry) => {
    const [line = '', ...printed] = entry.trimEnd().split('\n');
    const [, args] = /^npm run admin -- (?!bootstrap)(.*)$/.exec(line) ?? [];
    return args === undefined ? [] : [{ args, printed: printed.join('\n') }];
  });

const patternOf = (printed: string): RegExp =>
  new RegExp(`^${printed.replaceAll(/[.*+?^$()|[\]{}\\]/g, '\\$&').replaceAll('…', '[^\\n]*')}$`);

const folder = temporaryFolder();
let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  writeFileSync(path.join(folder.path, 'model.json'), modelFile);
});
afterAll(async () => {
  await database.close();
  await folder[Symbol.asyncDispose]();
});

test("the operator's commands in docs/deploy.md print what it says, until the first request is paid", async () => {
  expect(commands.map(({ args }) => args.split(' ')[0])).toEqual([
    'publish-model',
    'limit-organization',
    'grant-credit',
    'create-key',
    'balance',
  ]);
  for (const { args, printed } of commands) {
    const list = [...args.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const given = list.map((arg) => (arg === 'model.json' ? path.join(folder.path, arg) : arg));
    const { code, stdout, stderr } = await runAdmin(database, given);
    const errors = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"timestamp"'));
    expect({ args, code, errors }).toEqual({ args, code: 0, errors: [] });
    // No request was paid here.
    const expected = args.startsWith('balance') ? printed.replace('"0.00000285"', '"0"').replaceAll('"99.99999715"', '"100"') : printed;
    expect(stdout.trimEnd()).toMatch(patternOf(expected));
  }
  const { prices } = JSON.parse(modelFile);
  expect(9 * prices[0].prompt_nanos + 12 * prices[0].completion_nanos).toBe(2_850 * 1_000_000);
});
