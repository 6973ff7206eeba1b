import type { ParseArgsConfig } from 'node:util';

/** The options of a command line. */
export type FlagOptions = NonNullable<ParseArgsConfig['options']>;
type Environment = Readonly<Record<string, string | undefined>>;

// npm's own settings, which an .npmrc or a pipeline can have set.
const NPMS_OWN = ['yes', 'key'];
// npm's own option of this letter has another name.
const NPMS_NAMES: Readonly<Record<string, string>> = { c: 'call' };

/** An option that npm took for its own, so that the command did not get it. */
export class KeptByNpm extends Error {}

/**
 * Checks that npm has passed on all options. It keeps those that are not after `--`, and sets a variable for each.
 * @throws KeptByNpm naming the first option that it kept
 */
export const rejectKeptByNpm = (options: FlagOptions, args: readonly string[], environment: Environment = process.env): void => {
  const script = environment.npm_lifecycle_event;
  if (script === undefined || script === 'npx') return;
  for (const [name, { short }] of Object.entries(options)) {
    if (NPMS_OWN.includes(name) || args.some((arg) => isFlag(arg, name, short))) continue;
    const kept = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])].find((flag) => hasKept(flag, environment));
    if (kept === undefined) continue;
    const command = script === 'start' ? 'npm start' : `npm run ${script}`;
    throw new KeptByNpm(`npm has kept ${kept} for itself. Put -- before the options: ${command} -- ${kept} …`);
  }
};

const isFlag = (arg: string, name: string, short: string | undefined): boolean =>
  arg === `--${name}` || arg.startsWith(`--${name}=`) || (short !== undefined && arg.startsWith(`-${short}`));

// A flag that begins with "no-" empties the variable of the rest.
const hasKept = (flag: string, environment: Environment): boolean => {
  const name = flag.replace(/^-+/, '');
  const variable = (option: string): string | undefined => environment[`npm_config_${option.replaceAll('-', '_')}`];
  if (name.startsWith('no-')) return variable(name.slice('no-'.length)) === '';
  return Boolean(variable(NPMS_NAMES[name] ?? name));
};
