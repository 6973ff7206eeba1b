import { parseArgs } from 'node:util';
import type * as z from 'zod';
import { plainReason } from '../../shared/http/plain-reason.ts';
import { type FlagOptions, KeptByNpm, rejectKeptByNpm } from './kept-by-npm.ts';

/**
 * Reads the flags of a command line. With `--help`, prints the usage and ends the process; with a flag that isn't
 * among the options, prints the line that matters and the usage, and ends it with 1. So does a flag that npm kept.
 */
export const readFlags = <Options extends FlagOptions>(
  usage: string,
  options: Options,
  args: readonly string[] = process.argv.slice(2),
) => {
  if (args.includes('--help')) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    rejectKeptByNpm(options, args);
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    console.error(describe(error, usage));
    return process.exit(1);
  }
};

const describe = (error: unknown, usage: string): string => {
  if (error instanceof KeptByNpm) return error.message;
  const [message] = (error instanceof Error ? error.message : String(error)).split('. ');
  return `${message}.\n\n${usage}`;
};

/** Checks the values of flags. Ends the process with 1 if some are wrong, and says which. */
export const checkFlags = <Schema extends z.ZodType>(schema: Schema, values: object): z.output<Schema> => {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) console.error(`--${String(path[0])}: ${plainReason(message)}.`);
  return process.exit(1);
};
