import { setTimeout as delay } from 'node:timers/promises';

// A bound against hanging: a busy machine may take many times as long as a quiet one.
const LIMIT_MS = 120_000;
const POLL_MS = 20;

/** Polls until a condition is true. @throws Error that names the condition after two minutes, or after `limitMs` */
export const eventually = async (isTrue: () => Promise<boolean>, what: string, limitMs = LIMIT_MS): Promise<void> => {
  for (const start = performance.now(); performance.now() - start < limitMs; await delay(POLL_MS)) if (await isTrue()) return;
  throw new Error(`Not within ${limitMs} ms: ${what}.`);
};
