import { readFileSync } from 'node:fs';

/** Resident memory of a process in MiB, now and at its highest. */
export const residentMiB = (pid: number): { now: number; peak: number } => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024;
  return { now: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
};
