import { setTimeout as delay } from 'node:timers/promises';
import { takeLock } from './take-lock.ts';

// Many times as long as anything takes that is made so.
const MAX_WAIT_MS = 600_000;
const POLL_MS = 20;

interface Once<Made> {
  /** The path of the lock; its folder exists. */
  lock: string;
  /** The task, as an error says that it is not done, such as `synthesized the app`. */
  task: string;
  /** Finds it; undefined: it is not made yet. */
  find: () => Made | undefined;
  make: () => Promise<Made>;
}

/**
 * Returns what is made already, or makes it. Processes that need it at the same time wait for one of them.
 * @throws Error if another process doesn't end its task; the errors of `make`
 */
export const makeOnce = async <Made>({ lock, task, find, make }: Once<Made>): Promise<Made> => {
  const start = performance.now();
  for (;;) {
    const made = find();
    if (made !== undefined) return made;
    const release = takeLock(lock);
    if (typeof release === 'number') {
      if (performance.now() - start > MAX_WAIT_MS)
        throw new Error(`Process ${release} has not ${task} for ten minutes. End it, or remove ${lock}.${release}.*`);
      await delay(POLL_MS * (1 + Math.random()));
      continue;
    }
    try {
      return find() ?? (await make());
    } finally {
      release();
    }
  }
};
