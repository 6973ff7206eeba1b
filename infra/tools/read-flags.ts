import { type ParseArgsConfig, parseArgs } from 'node:util';

type FlagOptions = NonNullable<ParseArgsConfig['options']>;

/**
 * Reads the flags of a command line. With `--help`, prints the usage and ends the process; with a flag that isn't
 * among the options, prints the line that matters and the usage, and ends it with 1.
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
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const [message] = (error instanceof Error ? error.message : String(error)).split('. ');
    console.error(`${message}.\n\n${usage}`);
    return process.exit(1);
  }
};
