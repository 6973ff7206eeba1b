import { setTimeout as delay } from 'node:timers/promises';

const LIMIT_MS = 30_000;
const POLL_MS = 20;

/** Polls until a condition is true. @throws Error that names the condition after 30 s, or after `limitMs` */
export const eventually = async (isTrue: () => Promise<boolean>, what: string, limitMs = LIMIT_MS): Promise<void> => {
  for (const start = performance.now(); performance.now() - start < limitMs; await delay(POLL_MS)) if (await isTrue()) return;
  throw new Error(`Not within ${limitMs} ms: ${what}.`);
};
