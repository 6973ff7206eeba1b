const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 5_000;

// No delay at first, then doubling up to five seconds.
interface Backoff {
  nextDelayMs(): number;
  /** Must be called after a success. */
  reset(): void;
}

export const createBackoff = (): Backoff => {
  let failures = 0;
  return {
    nextDelayMs() {
      failures += 1;
      return failures === 1 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 2));
    },
    reset() {
      failures = 0;
    },
  };
};
