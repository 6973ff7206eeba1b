import { setTimeout as delay } from 'node:timers/promises';

const LIMIT_MS = 30_000;
const POLL_MS = 20;

/** Polls until a condition is true. @throws Error that names the condition after 30 s */
export const eventually = async (isTrue: () => Promise<boolean>, what: string): Promise<void> => {
  for (const start = performance.now(); performance.now() - start < LIMIT_MS; await delay(POLL_MS)) if (await isTrue()) return;
  throw new Error(`Not within ${LIMIT_MS} ms: ${what}.`);
};
