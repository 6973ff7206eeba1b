import Sequencer from '@jest/test-sequencer';

// They mostly wait, or repeat something hundreds of times or more.
const SLOW = [
  'test/e2e/billing-quarter/quarter.test.ts',
  'test/e2e/deployments/walk-through.test.ts',
  'test/e2e/walk-throughs.test.ts',
  'test/e2e/failures/crashes.test.ts',
  'test/e2e/failures/fault-table.test.ts',
  'test/functions/deployments/rollout-convergence.test.ts',
  'test/functions/deployments/convergence.test.ts',
];

const isSlow = ({ path }) => SLOW.some((slow) => path.endsWith(slow));

/**
 * The order of the test files: slow ones first, so that none of them is left alone at the end. In a fresh clone, Jest
 * knows no durations and starts the largest files first; these are small.
 */
export default class SlowTestsFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => Number(isSlow(other)) - Number(isSlow(one)));
  }
}
