// 400 days: enough to see a year's end.
const MAX_OFFSET_MS = 400 * 86_400_000;

/**
 * The time of a local run: the machine's, until somebody moves it. The functions, the tokens of users and signed URLs
 * follow it; schedules, queues and streams keep the machine's.
 */
export interface LocalClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** How far it is ahead of the machine's clock. */
  offsetMs(): number;
  /** @throws RangeError for more than 400 days */
  moveTo(offsetMs: number): void;
}

/** @param machine the machine's clock, in milliseconds since the epoch */
export const createLocalClock = (machine: () => number): LocalClock => {
  let offset = 0;
  return {
    now: () => machine() + offset,
    offsetMs: () => offset,
    moveTo(offsetMs) {
      if (Math.abs(offsetMs) > MAX_OFFSET_MS) throw new RangeError('The clock can be at most 400 days from the machine’s.');
      offset = offsetMs;
    },
  };
};
