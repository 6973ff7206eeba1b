import { fork } from 'node:child_process';
import path from 'node:path';
import type { WatchdogMessage } from './watchdog.ts';

/** Tracks every process of the local run, so that none outlives the runner. */
export interface ProcessList {
  started(pid: number): void;
  ended(pid: number): void;
  /** Ends the watchdog, which first kills the processes that still run. */
  close(): void;
}

/** Starts the watchdog process, which kills the listed processes when this process exits. */
export const createProcessList = (): ProcessList => {
  const watchdog = fork(path.join(import.meta.dirname, 'watchdog.ts'), [], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
    env: {},
  });
  watchdog.unref();
  watchdog.channel?.unref();
  const send = (message: WatchdogMessage): void => {
    if (watchdog.connected) watchdog.send(message);
  };
  return {
    started: (pid) => send({ type: 'started', pid }),
    ended: (pid) => send({ type: 'ended', pid }),
    close() {
      if (watchdog.connected) watchdog.disconnect();
    },
  };
};
