import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

// The hierarchy of CPU groups (cgroup v1), which root can write on many Linux machines.
const GROUPS = '/sys/fs/cgroup/cpu';
// With this memory a function of Lambda has one core, with less its share of it
// (https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html).
const ONE_CORE_MB = 1_769;
// Lambda's period, as others have measured it (https://github.com/pwrdrvr/lambda-throttling).
const PERIOD_US = 20_000;
// The most weight that Linux knows: other processes of a busy machine wait for the function, and not it for them.
const MOST_SHARES = 262_144;

/** The share of a core that a function has. */
export const coreShare = (memoryMb: number): number => Math.min(1, memoryMb / ONE_CORE_MB);

/** A group of processes that together get the CPU time of a function with so much memory. */
export interface CpuQuota {
  /** Moves a process with all its threads into the group. */
  add(pid: number): void;
  /** Removes the group, whose processes must have ended. */
  close(): void;
}

/** @returns undefined where this process may not create such groups */
export const openCpuQuota = (memoryMb: number): CpuQuota | undefined => {
  const folder = path.join(GROUPS, `sluice-bench-${process.pid}-${memoryMb}`);
  const write = (file: string, value: number): void => writeFileSync(path.join(folder, file), String(value));
  try {
    mkdirSync(folder);
    write('cpu.cfs_period_us', PERIOD_US);
    write('cpu.cfs_quota_us', Math.round(PERIOD_US * coreShare(memoryMb)));
    write('cpu.shares', MOST_SHARES);
  } catch {
    return undefined;
  }
  return {
    add: (pid) => write('cgroup.procs', pid),
    close: () => rmdirSync(folder),
  };
};
