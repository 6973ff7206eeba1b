import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { Use } from './check.ts';

const Line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('used'), role: z.string(), action: z.string(), resource: z.string() }),
  z.object({
    kind: z.literal('denied'),
    role: z.string(),
    function: z.string(),
    action: z.string(),
    resource: z.string(),
    why: z.string(),
  }),
]);

const fileOf = (stateFolder: string): string => path.join(stateFolder, 'logs', 'permissions.log');

/** Writes the permissions' log of a local run: each permission once, and once more after `forgetUses`. */
export const createUseLog = (stateFolder: string): ((use: Use) => void) => {
  const file = fileOf(stateFolder);
  const logged = new Set<string>();
  return (use) => {
    const line = JSON.stringify(use);
    if (!existsSync(file)) logged.clear();
    if (use.kind === 'used' && logged.has(line)) return;
    logged.add(line);
    appendFileSync(file, `${line}\n`);
  };
};

/** Begins the permissions' log of a local run again. */
export const forgetUses = (stateFolder: string): void => rmSync(fileOf(stateFolder), { force: true });

/** The permissions that a local run's functions used or lacked; none if the run did not check them. */
export const readUses = (stateFolder: string): Use[] => {
  let text: string;
  try {
    text = readFileSync(fileOf(stateFolder), 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => Line.parse(JSON.parse(line)));
};
