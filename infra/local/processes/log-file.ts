import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';

/**
 * Starts a process whose output is appended to `<folder>/<name>.log`.
 * @param start receives the file descriptor, which is closed after it returns
 */
export const withLogFile = <Started>(folder: string, name: string, start: (logFile: number) => Started): Started => {
  // The folder may have been deleted during the run.
  mkdirSync(folder, { recursive: true });
  const logFile = openSync(path.join(folder, `${name}.log`), 'a');
  try {
    return start(logFile);
  } finally {
    closeSync(logFile);
  }
};
