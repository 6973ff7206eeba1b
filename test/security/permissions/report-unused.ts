import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { AggregatedResult, Config, Reporter, TestContext } from '@jest/reporters';
import { readRecordedUses } from '../../support/emulators/used-permissions.ts';
import { isFull } from '../../support/sized.ts';
import { DOCUMENT, readNamed } from './document.ts';
import { unexplained, wronglyNamed } from './exercised.ts';
import { readGrants } from './grants.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

/**
 * Fails a run of all tests if no suite used a granted permission. At their full sizes, it also fails if
 * docs/permissions.md names a suite that did not use it; smaller ones may do without it. A run of some tests, or one
 * that failed anyway, says nothing about that.
 */
export default class ReportUnused implements Pick<Reporter, 'onRunComplete' | 'getLastError'> {
  #error: Error | undefined;
  readonly #config: Config.GlobalConfig;
  readonly #checksNames: boolean;

  /** @param checksNames whether the suites that docs/permissions.md names are checked */
  constructor(config: Config.GlobalConfig, { checksNames = isFull }: { checksNames?: boolean } = {}) {
    this.#config = config;
    this.#checksNames = checksNames;
  }

  async onRunComplete(_contexts: Set<TestContext>, { testResults, numFailedTestSuites }: AggregatedResult): Promise<void> {
    const recorded = process.env.SLUICE_TEST_PERMISSIONS;
    const suites = globSync('test/**/*.test.ts', { cwd: ROOT }).length;
    if (!recorded || testResults.length < suites || this.#config.testNamePattern || numFailedTestSuites > 0) return;
    const uses = readRecordedUses(recorded);
    const roles = await readGrants();
    const unused = unexplained(roles, uses);
    const wrong = this.#checksNames ? wronglyNamed(readNamed(readFileSync(DOCUMENT, 'utf8'), roles), uses) : [];
    const problems = [
      ...unused.map((id) => `No test uses this permission. Remove it, test what needs it, or acknowledge it with a reason: ${id}`),
      ...wrong.map((each) => `docs/permissions.md names a suite that does not use this permission. Write the page again: ${each}`),
    ];
    if (problems.length === 0) return;
    this.#error = new Error(problems.join('\n'));
    process.stderr.write(`\n${this.#error.message}\n`);
  }

  getLastError(): Error | undefined {
    return this.#error;
  }
}
