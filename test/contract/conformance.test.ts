import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chatRequest } from '../../functions/inference/chat/request.ts';
import { runProgram } from '../support/run-program.ts';
import { conformance } from './conformance/main.ts';
import { run } from './conformance/run-program.ts';
import { accepted } from './conformance/values.ts';

const PAGE = path.join(import.meta.dirname, '../../docs/fields.md');

describe('npm run conformance with our own container', () => {
  let folder: string;
  let page: string;
  let own: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-conformance-'));
    page = path.join(folder, 'fields.md');
    own = await run('--markdown', page);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('finds that every field works, in both dialects', () => {
    expect(own.output.split('\n').filter((line) => line.includes('fails'))).toEqual([]);
    expect(own.errors).toBe('');
    expect(own.code).toBe(0);
  });

  test('writes the page that docs/fields.md has', () => {
    const isCurrent = readFileSync(page, 'utf8') === readFileSync(PAGE, 'utf8');
    expect(isCurrent ? '' : 'docs/fields.md is out of date: npm run conformance -- --markdown docs/fields.md').toBe('');
  });
});

test.each([
  [['--container', 'not a url'], '--container'],
  [['--container', 'http://a', '--timeout-ms', '0'], '--timeout-ms'],
  [['--dialect', 'klingon'], '--dialect'],
  [['--model', 'mine'], '--container'],
  [['--verbose'], '--verbose'],
])('npm run conformance rejects %j with one line that names the flag', async (parameters, flag) => {
  const { code, stderr } = await runProgram(conformance, parameters, process.env);
  expect(stderr).toContain(flag);
  expect(stderr.trim().split('\n').length).toBe(1);
  expect(code).toBe(1);
});

describe('the documented values of a field', () => {
  const schema = chatRequest;
  const isTaken = (field: string, value: unknown, beside?: object): boolean =>
    schema.safeParse({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...beside, [field]: value }).success;

  test.each(Object.entries(accepted))('match the schema for %s', (field, { takes, refuses, beside }) => {
    expect(takes.filter((value) => !isTaken(field, value, beside))).toEqual([]);
    expect(refuses.filter((value) => isTaken(field, value, beside))).toEqual([]);
  });
});
