import Sequencer from '@jest/test-sequencer';
import { SLOW_SUITES } from './slow-suites.ts';

const rankOf = ({ path }) => {
  const rank = SLOW_SUITES.findIndex((slow) => path.endsWith(slow));
  return rank < 0 ? SLOW_SUITES.length : rank;
};

/**
 * The order of the test files: slow ones first, as they are listed, so that none of them is left alone at the end. In
 * a fresh clone, Jest knows no durations and starts the largest files first; these are small.
 */
export default class SlowTestsFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
