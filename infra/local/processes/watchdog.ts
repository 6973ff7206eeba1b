/*
 * The program that outlives a runner killed by SIGKILL: it then ends the processes that the runner started, also those that are
 * frozen or do not speak Node's IPC.
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
      // It has ended by itself.
    }
  }
  process.exit(0);
});
