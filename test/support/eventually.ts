import { setTimeout as delay } from 'node:timers/promises';

// A bound against hanging: a busy machine may take many times as long as a quiet one.
const LIMIT_MS = 120_000;
const LEAST_POLL_MS = 20;
const MOST_POLL_MS = 250;
// Most conditions are requests to a local run: polled all the time, they would take the CPU of what they wait for.
const SHARE_OF_WAIT = 1 / 8;

/**
 * Polls until a condition is true, more rarely the longer it takes.
 * @throws Error that names the condition after two minutes, or after `limitMs`
 */
export const eventually = async (isTrue: () => Promise<boolean>, what: string, limitMs = LIMIT_MS): Promise<void> => {
  const start = performance.now();
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs = performance.now() - start) {
    if (await isTrue()) return;
    await delay(Math.min(MOST_POLL_MS, Math.max(LEAST_POLL_MS, waitedMs * SHARE_OF_WAIT)));
  }
  throw new Error(`Not within ${limitMs} ms: ${what}.`);
};
