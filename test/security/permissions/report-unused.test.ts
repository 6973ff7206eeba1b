import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { AggregatedResult, Config } from '@jest/reporters';
import { readRecordedUses, recordUses } from '../../support/emulators/used-permissions.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { DOCUMENT, readNamed } from './document.ts';
import { chooseSuites, type Uses } from './exercised.ts';
import { readGrants } from './grants.ts';
import ReportUnused from './report-unused.ts';

const SUITES = globSync('test/**/*.test.ts', { cwd: path.join(import.meta.dirname, '../../..') }).length;
const folder = temporaryFolder();
const before = process.env.SLUICE_TEST_PERMISSIONS;
// The suite of each permission, as docs/permissions.md has it.
let named: Map<string, string>;

beforeAll(async () => {
  named = readNamed(readFileSync(DOCUMENT, 'utf8'), await readGrants());
});
beforeEach(() => {
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterAll(async () => {
  jest.restoreAllMocks();
  if (before !== undefined) process.env.SLUICE_TEST_PERMISSIONS = before;
  await folder[Symbol.asyncDispose]();
});

interface Run {
  recorded: ReadonlyMap<string, string>;
  suites?: number;
  failed?: number;
  testNamePattern?: string;
  checksNames?: boolean;
}

let runs = 0;
// The error at the end of a run that recorded these permissions, each with its suite.
const errorOf = async ({
  recorded,
  suites = SUITES,
  failed = 0,
  testNamePattern = '',
  checksNames = true,
}: Run): Promise<string | undefined> => {
  const into = path.join(folder.path, `${runs++}`);
  mkdirSync(into);
  writeFileSync(path.join(into, '1.tsv'), [...recorded].map(([id, suite]) => `${suite}\t${id}\n`).join(''));
  process.env.SLUICE_TEST_PERMISSIONS = into;
  const reporter = new ReportUnused({ testNamePattern } as Config.GlobalConfig, { checksNames });
  await reporter.onRunComplete(new Set(), {
    testResults: Array(suites).fill({}),
    numFailedTestSuites: failed,
  } as unknown as AggregatedResult);
  return reporter.getLastError()?.message;
};

test('records the permissions that a suite uses under its path, which the page names', () => {
  const into = path.join(folder.path, 'uses');
  mkdirSync(into);
  process.env.SLUICE_TEST_PERMISSIONS = into;
  recordUses([{ kind: 'used', role: 'role', action: 'sqs:SendMessage', resource: 'queue' }]);
  expect([...readRecordedUses(into).values()]).toEqual([new Set(['security/permissions/report-unused.test.ts'])]);
});

test('passes a run in which each permission is used where the page says', async () => {
  expect(named.size).toBeGreaterThan(200);
  expect(await errorOf({ recorded: named })).toBeUndefined();
});

test('fails a run that does not use a permission, and says which one and what to do', async () => {
  const [first = ''] = named.keys();
  const error = await errorOf({ recorded: new Map([...named].slice(1)) });
  expect(error).toContain(`No test uses this permission. Remove it, test what needs it, or acknowledge it with a reason: ${first}`);
});

test('fails a run in which another suite uses a permission than the page says', async () => {
  const [[id, suite] = ['', '']] = named;
  const error = await errorOf({ recorded: new Map(named).set(id, 'e2e/another.test.ts') });
  expect(error).toBe(`docs/permissions.md names a suite that does not use this permission. Write the page again: ${id}: ${suite}`);
});

test('passes a run at smaller sizes without the suites that the page says', async () => {
  const [[id] = ['']] = named;
  expect(await errorOf({ recorded: new Map(named).set(id, 'e2e/another.test.ts'), checksNames: false })).toBeUndefined();
});

test.each<[string, Omit<Run, 'recorded'>]>([
  ['of some suites', { suites: SUITES - 1 }],
  ['of some tests', { testNamePattern: 'chat' }],
  ['that failed', { failed: 1 }],
])('a run %s says nothing about permissions', async (_, run) => {
  expect(await errorOf({ recorded: new Map(), ...run })).toBeUndefined();
});

test("keeps a permission's suite while all recorded runs of it use it, else takes the most common one", () => {
  const run = (uses: Record<string, string[]>): Uses => new Map(Object.entries(uses).map(([id, suites]) => [id, new Set(suites)]));
  const runs = [
    run({ kept: ['b', 'a'], moved: ['c', 'b'], sometimes: ['a'], alone: ['d'] }),
    run({ kept: ['a', 'b'], moved: ['c', 'b', 'a'], frequent: ['b', 'c'] }),
    run({ frequent: ['c'], moved: ['c'] }),
  ];
  const before = new Map([
    ['kept', 'b'],
    ['moved', 'a'],
    ['sometimes', 'a'],
  ]);
  expect([...chooseSuites(runs, before)].sort()).toEqual([
    ['alone', 'd'],
    ['kept', 'b'],
    ['moved', 'c'],
  ]);
});
