const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 5_000;

/** How long to wait before the next start of a process that died: nothing at first, then doubling up to five seconds. */
interface Backoff {
  nextDelayMs(): number;
  /** Called once the process is up and of use. */
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
