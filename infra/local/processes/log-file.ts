import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';

/**
 * Starts a process whose output goes to `<folder>/<name>.log`, after what is there.
 * @param start gets the file's descriptor, which is closed here once the process has its own
 */
export const withLogFile = <Started>(folder: string, name: string, start: (logFile: number) => Started): Started => {
  // Somebody may have cleaned up under us.
  mkdirSync(folder, { recursive: true });
  const logFile = openSync(path.join(folder, `${name}.log`), 'a');
  try {
    return start(logFile);
  } finally {
    closeSync(logFile);
  }
};
