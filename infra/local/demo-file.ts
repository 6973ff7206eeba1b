import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

const FILE = 'demo.json';

/** The demo of a state folder: what callers use, and which its database and user pool know. */
export const Demo = z.object({
  api_key: z.string(),
  model: z.string(),
  ondemand_api_key: z.string(),
  ondemand_model: z.string(),
  admin_email: z.string(),
  admin_password: z.string(),
});
export type Demo = z.infer<typeof Demo>;

/**
 * Reads the demo of the last run that stored its data in a state folder. It is not in `local.json`, which an
 * ephemeral run overwrites.
 * @returns undefined if the file is missing or invalid
 */
export const readDemo = async (stateDir: string): Promise<Demo | undefined> => {
  try {
    return Demo.parse(JSON.parse(await readFile(path.join(stateDir, FILE), 'utf8')));
  } catch {
    return undefined;
  }
};

export const writeDemo = async (stateDir: string, demo: Demo): Promise<void> => {
  await writeFile(path.join(stateDir, FILE), `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600 });
};
