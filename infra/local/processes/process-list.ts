import { fork } from 'node:child_process';
import path from 'node:path';
import type { WatchdogMessage } from './watchdog.ts';

/** Knows every process that the local run started, so that none is left behind whatever happens to the runner. */
export interface ProcessList {
  started(pid: number): void;
  ended(pid: number): void;
  /** Ends the watchdog, and with it whatever still runs. */
  close(): void;
}

/** Starts the watchdog process that ends the listed processes when this one is gone. */
export const createProcessList = (): ProcessList => {
  const watchdog = fork(path.join(import.meta.dirname, 'watchdog.ts'), [], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
    env: {},
  });
  watchdog.unref();
  watchdog.channel?.unref();
  const tell = (message: WatchdogMessage): void => {
    if (watchdog.connected) watchdog.send(message);
  };
  return {
    started: (pid) => tell({ type: 'started', pid }),
    ended: (pid) => tell({ type: 'ended', pid }),
    close() {
      if (watchdog.connected) watchdog.disconnect();
    },
  };
};
