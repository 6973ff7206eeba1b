import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Tracks every process of the local run, so that none outlives the runner. */
export interface ProcessList {
  started(pid: number): void;
  ended(pid: number): void;
  /** Ends the watchdog, which first kills the processes that still run. */
  close(): void;
}

// Reads lines such as `started 17` until its input ends, as it does when the runner exits, even by SIGKILL; then it
// kills the processes that have not ended, frozen ones too. A shell starts in a millisecond.
const WATCHDOG = `
pids=' '
while read -r what pid; do
  if [ "$what" = started ]; then pids="$pids$pid "
  else case "$pids" in *" $pid "*) pids="\${pids%% $pid *} \${pids#* $pid }" ;; esac
  fi
done
kill -KILL $pids
`;

/** Starts the watchdog process, which kills the listed processes when this process exits. */
export const createProcessList = (): ProcessList => {
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  watchdog.unref();
  const lines = watchdog.stdin as Socket;
  lines.unref();
  // Its input is closed if somebody has killed it.
  lines.on('error', () => undefined);
  const send = (what: 'started' | 'ended', pid: number): void => {
    if (lines.writable) lines.write(`${what} ${pid}\n`);
  };
  return {
    started: (pid) => send('started', pid),
    ended: (pid) => send('ended', pid),
    close: () => lines.end(),
  };
};
