import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chatCompletionRequest } from '../../functions/inference/chat/request.ts';
import { run } from './conformance/run-program.ts';
import { accepted } from './conformance/values.ts';

const PAGE = path.join(import.meta.dirname, '../../docs/fields.md');

describe('our own container', () => {
  let folder: string;
  let page: string;
  let own: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-conformance-'));
    page = path.join(folder, 'fields.md');
    own = await run('--markdown', page);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('does what every field says, in both dialects', () => {
    expect(own.output.split('\n').filter((line) => line.includes('fails'))).toEqual([]);
    expect(own.errors).toBe('');
    expect(own.code).toBe(0);
  });

  test('is told of in docs/fields.md as it is', () => {
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
])('%j is explained', async (parameters, flag) => {
  const { code, errors } = await run(...parameters);
  expect(errors).toContain(flag);
  expect(errors.trim().split('\n').length).toBe(1);
  expect(code).toBe(1);
});

describe('the accepted values that are told of', () => {
  const schema = chatCompletionRequest(false);
  const isTaken = (field: string, value: unknown, beside?: object): boolean =>
    schema.safeParse({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...beside, [field]: value }).success;

  test.each(Object.entries(accepted))('of %s are those of the schema', (field, { takes, refuses, beside }) => {
    expect(takes.filter((value) => !isTaken(field, value, beside))).toEqual([]);
    expect(refuses.filter((value) => isTaken(field, value, beside))).toEqual([]);
  });
});
