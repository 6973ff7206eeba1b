import { appendFileSync, readFileSync } from 'node:fs';
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

/** Writes a line into the permissions' log of a local run. */
export const logUse = (stateFolder: string, use: Use): void => appendFileSync(fileOf(stateFolder), `${JSON.stringify(use)}\n`);

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
