/*
 * Waits until the runner exits, even by SIGKILL, and then kills the runner's processes, including those that are frozen or have no
 * IPC channel.
 */
export type WatchdogMessage = { readonly type: 'started' | 'ended'; readonly pid: number };

const pids = new Set<number>();

process.on('message', ({ type, pid }: WatchdogMessage) => {
  if (type === 'started') pids.add(pid);
  else pids.delete(pid);
});

process.once('disconnect', () => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has already exited.
    }
  }
  process.exit(0);
});
