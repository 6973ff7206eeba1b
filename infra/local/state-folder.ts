import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { takeLock } from '../bundling/take-lock.ts';

const LOCK = 'runner';
const MAX_LOCK_ATTEMPTS = 3;
// Two runs that start at the same moment can both fail to lock the folder. Most often they try again at different ones.
const MAX_DELAY_MS = 100;

/**
 * Creates the state folder and locks it for this process: two runs on one database would overwrite each other's facts
 * and assembly.
 * @returns a function that releases the lock
 * @throws Error if another run holds the lock, or if the folder is not writable
 */
export const takeStateFolder = async (stateDir: string): Promise<() => void> => {
  let owner: number | undefined;
  try {
    await mkdir(stateDir, { recursive: true });
    for (let attempt = 0; attempt < MAX_LOCK_ATTEMPTS; attempt++) {
      const taken = takeLock(path.join(stateDir, LOCK));
      if (typeof taken === 'function') return taken;
      owner = taken;
      await delay(MAX_DELAY_MS * Math.random());
    }
  } catch (error) {
    throw new Error(
      `The state folder ${stateDir} cannot be written (${(error as NodeJS.ErrnoException).code}). Choose another with --state.`,
      { cause: error },
    );
  }
  throw new Error(`Another run (process ${owner}) uses the state folder ${stateDir}. Stop it, or choose another folder with --state.`);
};
