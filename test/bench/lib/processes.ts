import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const NANOSECONDS_PER_MS = 1e6;

/**
 * CPU milliseconds that a process has used in all its threads, exact to the nanosecond: the kernel's own account of
 * each thread (`/proc/<pid>/task/<tid>/schedstat`), which is not counted in clock ticks as `/proc/<pid>/stat` is.
 * Linux only.
 */
export const cpuMs = (pid: number): number => {
  const folder = `/proc/${pid}/task`;
  let nanoseconds = 0;
  for (const thread of readdirSync(folder)) nanoseconds += Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return nanoseconds / NANOSECONDS_PER_MS;
};

/** How often the threads of a process went to sleep by themselves since they started, each time to be woken once. */
export const wakeUps = (pid: number): number => {
  const folder = `/proc/${pid}/task`;
  const ofThread = (thread: string): number =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`${folder}/${thread}/status`, 'utf8'))?.[1]);
  return readdirSync(folder).reduce((total, thread) => total + ofThread(thread), 0);
};

/** Starts a stopwatch of CPU time; calling the result gives the milliseconds that each process has used since. */
export const startCpuWatch = <Name extends string>(pids: Readonly<Record<Name, number>>): (() => Record<Name, number>) => {
  const names = Object.keys(pids) as Name[];
  const started = new Map(names.map((name) => [name, cpuMs(pids[name])]));
  return () => {
    const used = names.map((name) => [name, cpuMs(pids[name]) - (started.get(name) ?? 0)] as const);
    return Object.fromEntries(used) as Record<Name, number>;
  };
};

/** Milliseconds that all cores have been busy since the machine started, in clock ticks of 10 ms. */
export const machineBusyMs = (): number => cpus().reduce((ms, { times: { user, nice, sys, irq } }) => ms + user + nice + sys + irq, 0);
