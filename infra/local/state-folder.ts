import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../bundling/is-alive.ts';

const LOCK = 'runner.pid';
const MAX_LOCK_ATTEMPTS = 3;

/**
 * Creates the state folder and locks it for this process: two runs on one database would overwrite each other's facts
 * and assembly.
 * @returns a function that releases the lock
 * @throws Error if another run holds the lock, or if the folder is not writable
 */
export const takeStateFolder = async (stateDir: string): Promise<() => Promise<void>> => {
  const lock = path.join(stateDir, LOCK);
  const unwritable = (error: unknown): never => {
    throw new Error(
      `The state folder ${stateDir} cannot be written (${(error as NodeJS.ErrnoException).code}). Choose another with --state.`,
      { cause: error },
    );
  };
  await mkdir(stateDir, { recursive: true }).catch(unwritable);
  for (let attempt = 0; attempt < MAX_LOCK_ATTEMPTS; attempt++) {
    try {
      await writeFile(lock, String(process.pid), { flag: 'wx', mode: 0o600 });
      return () => rm(lock, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') unwritable(error);
    }
    const pid = Number(await readFile(lock, 'utf8').catch(() => ''));
    if (pid > 0 && isAlive(pid))
      throw new Error(`Another run (process ${pid}) uses the state folder ${stateDir}. Stop it, or choose another folder with --state.`);
    // The run that wrote the lock was killed.
    await rm(lock, { force: true });
  }
  throw new Error(`The state folder ${stateDir} could not be locked. Choose another with --state.`);
};
