import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from './is-alive.ts';

// Process ids of the files `<lock>.<pid>.<id>` of other takers. Removes those of processes that were killed.
const findOwners = (lock: string, own?: string): number[] => {
  const { dir, base } = path.parse(lock);
  const others = readdirSync(dir).filter((name) => name.startsWith(`${base}.`) && name !== own);
  return others.flatMap((name) => {
    const pid = Number(name.slice(base.length + 1).split('.')[0]);
    if (pid > 0 && isAlive(pid)) return [pid];
    rmSync(path.join(dir, name), { force: true });
    return [];
  });
};

/**
 * Takes a lock if no living process has it. Each taker writes a file of its own, and looks for others again after that:
 * of two at the same time, at least one sees the other. The file of a killed process says whose it was from its first
 * moment, and no taker that removes it can remove another's.
 * @param lock the path of the lock in a folder that exists; files beside it begin with this name
 * @returns a function that releases the lock, or the id of a process that has it. If several try at the same time, all
 * may fail, so wait for a random time before you try again.
 */
export const takeLock = (lock: string): (() => void) | number => {
  const [owner] = findOwners(lock);
  if (owner !== undefined) return owner;
  const file = `${lock}.${process.pid}.${randomUUID()}`;
  writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  const release = (): void => rmSync(file, { force: true });
  const [other] = findOwners(lock, path.basename(file));
  if (other === undefined) return release;
  release();
  return other;
};
