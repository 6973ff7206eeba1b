import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { logFolders } from '../run-logs.ts';
import ProcessEnvironment from './environment.ts';
import { findLoadedModules } from './loaded-modules.ts';
import { notRun } from './report-not-run.ts';
import { SLOW_SUITES } from './slow-suites.ts';
import { allSuites, isQuick } from './suites.ts';

// Jest has two, and adds four for each suite.
const HANDLERS_OF_TWO_SUITES = 10;

const ROOT = path.join(import.meta.dirname, '../../..');

describe('the quick suites', () => {
  test('have no local run and no container, whoever starts it for them', () => {
    const quick = allSuites().filter((suite) => isQuick(suite) && suite !== 'test/support/jest/suites.test.ts');
    expect(quick.length).toBeGreaterThan(200);
    const starting = quick.filter((suite) =>
      /startLocal\(|startTestRun|shareTestRun|startHostRun|startWalk/.test(readFileSync(path.join(ROOT, suite), 'utf8')),
    );
    expect(starting).toEqual([]);
  });

  test.each([
    ['test/shared/admission/item/secret.test.ts', true],
    ['test/e2e/inference/completions.test.ts', false],
    ['test/infra/stacks/options.test.ts', false],
    ['test/shared/database/byte-faults.test.ts', false],
    ['test/functions/deployments/convergence.test.ts', false],
    ['test/infra/tools/cost/request-sizes.test.ts', false],
  ])('%s: %s', (suite, quick) => {
    expect(isQuick(suite)).toBe(quick);
  });
});

test('the suites that are started first exist', () => {
  expect(allSuites()).toEqual(expect.arrayContaining(SLOW_SUITES));
});

test("Jest runs the quick suites of `npm run test:quick`, also without Node's flag for ES modules", () => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const parameters = ['node_modules/jest/bin/jest.js', '--filter=./test/support/jest/quick-suites.mjs', '--listTests'];
  const listed = execFileSync(process.execPath, parameters, { cwd: ROOT, env, encoding: 'utf8' }).trim().split('\n');
  expect(listed.map((file) => path.relative(ROOT, file)).sort()).toEqual(allSuites().filter(isQuick));
});

test('the handlers of events of suites that ended in this worker are gone', () => {
  const { [Symbol.for('EVENT_HANDLERS')]: handlers } = globalThis as { [handlers: symbol]: unknown[] };
  expect(handlers?.length).toBeLessThan(HANDLERS_OF_TWO_SUITES);
});

test('the tests and the modules of suites that ended in this worker are gone', () => {
  const states = Object.getOwnPropertySymbols(globalThis).filter(({ description }) => description === 'JEST_STATE_SYMBOL');
  expect(states).toHaveLength(1);
  const loaded = findLoadedModules();
  expect(loaded !== undefined).toBe(process.send !== undefined);
  const suites = new Set([...(loaded?.keys() ?? [])].flatMap((url) => /\?suite=(\d+)$/.exec(url)?.[1] ?? []));
  expect(suites.size).toBeLessThanOrEqual(1);
});

test('the suites of a worker share the modules of the product, and each has its own ones of tests', async () => {
  await import('../../../shared/time/units.ts');
  const loaded = [...(findLoadedModules()?.keys() ?? [])];
  const hasItsOwn = (file: string): boolean => loaded.some((url) => url.includes(`/${file}?suite=`));
  const isWorker = process.send !== undefined;
  expect([hasItsOwn('test/support/jest/suites.test.ts'), hasItsOwn('shared/time/units.ts')]).toEqual([isWorker, false]);
});

describe('a run', () => {
  const suites = ['test/e2e/control/users.test.ts', 'test/shared/ids/ids.test.ts', 'test/shared/http/page.test.ts'];

  test('says how many suites of which folders it left out', () => {
    expect(notRun(new Set(suites.slice(1, 2)), suites, true)).toBe(
      "Not run: 2 of 3 test files: e2e (1), shared (1). 'npm test' runs all of them.",
    );
  });

  test('says how to run all suites at full size, unless it did', () => {
    expect(notRun(new Set(suites), suites, false)).toContain('npm run test:full');
    expect(notRun(new Set(suites), suites, true)).toBe('');
  });
});

describe('a test or hook whose function has a parameter without a value', () => {
  const define = (name: string, fn: (...values: never[]) => unknown) =>
    ProcessEnvironment.prototype.handleTestEvent({ name, testName: 'adds', fn });

  test.each(['add_test', 'add_hook'])('is rejected, because Jest would wait for it to call back: %s', (name) => {
    expect(() => define(name, (_missing) => undefined)).toThrow('would wait for a callback');
    expect(() => define(name, () => undefined)).not.toThrow();
  });
});

test('a test that fails prints what failed in the logs of the local runs, and another one prints nothing', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-logs-'));
  const failures = [
    '{"level":"ERROR","message":"target_failed"}',
    '{"level":"INFO","message":"request","failure":"Error ECONNRESET"}',
    'Invoke Error x',
  ];
  writeFileSync(path.join(folder, 'inference.log'), ['{"level":"INFO","message":"request"}', ...failures, ''].join('\n'));
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const end = (errors: readonly unknown[]) => ProcessEnvironment.prototype.handleTestEvent({ name: 'test_done', test: { errors } });
  try {
    logFolders().add(folder);
    end([]);
    expect(written.mock.calls).toEqual([]);
    end([new Error('expected')]);
    expect(written.mock.calls.map(([line]) => line)).toEqual(failures.map((line) => `inference.log: ${line}\n`));
  } finally {
    logFolders().delete(folder);
    written.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
