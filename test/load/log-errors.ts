import * as z from 'zod';
import type { TestRun } from '../support/clients/local-run.ts';

const MAX_DETAIL_CHARACTERS = 120;

const Line = z.object({ level: z.literal('ERROR'), message: z.string(), error: z.string().optional(), detail: z.string().optional() });

const read = (line: string): z.infer<typeof Line> | undefined => {
  try {
    return Line.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
};

/** How often each error is in the logs of the functions. */
export const readErrors = async (run: TestRun, functions: readonly string[]): Promise<Map<string, number>> => {
  const errors = new Map<string, number>();
  for (const name of functions)
    for (const line of (await run.logOf(name)).split('\n')) {
      const entry = line.includes('"ERROR"') ? read(line) : undefined;
      if (!entry) continue;
      const { message, error = '', detail = '' } = entry;
      const text = `${name}: ${message} ${error} ${detail}`.slice(0, MAX_DETAIL_CHARACTERS).trim();
      errors.set(text, (errors.get(text) ?? 0) + 1);
    }
  return errors;
};
