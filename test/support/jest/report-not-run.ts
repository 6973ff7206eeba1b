import path from 'node:path';
import type { AggregatedResult, Reporter, TestContext } from '@jest/reporters';
import { isFull } from '../sized.ts';
import { allSuites } from './suites.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

const areaOf = (suite: string): string => suite.split('/')[1] ?? '';

/**
 * Names the folders of `test/` that a run has left out, in a few lines.
 * @param ran the paths of its suites under the project's root
 */
export const notRun = (ran: ReadonlySet<string>, suites: readonly string[], full: boolean): string => {
  const missing = suites.filter((suite) => !ran.has(suite));
  const areas = Map.groupBy(missing, areaOf);
  const list = [...areas].map(([area, { length }]) => `${area} (${length})`).join(', ');
  const lines = [
    ...(missing.length > 0 ? [`Not run: ${missing.length} of ${suites.length} test files: ${list}. 'npm test' runs all of them.`] : []),
    ...(full ? [] : ["Random, fault, quarter and fuzz runs had their smaller sizes: 'npm run test:full' runs them whole."]),
  ];
  return lines.join('\n');
};

/** Says at the end of a run what it did not run. */
export default class ReportNotRun implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: Set<TestContext>, { testResults }: AggregatedResult): void {
    const ran = new Set(testResults.map(({ testFilePath }) => path.relative(ROOT, testFilePath)));
    const text = notRun(ran, allSuites(), isFull);
    if (text !== '') process.stderr.write(`\n${text}\n`);
  }
}
