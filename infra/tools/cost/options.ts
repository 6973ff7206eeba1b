import { parseArgs } from 'node:util';
import * as z from 'zod';
import { plainReason } from '../../../shared/http/plain-reason.ts';
import { readConfig } from '../../config/config.ts';
import { rejectKeptByNpm } from '../kept-by-npm.ts';
import { MAX_REQUESTS } from './break-even.ts';
import { SCENARIOS, type Usage } from './usage.ts';

export const USAGE = `npm run cost -- [options]

Without an option of usage, it shows ${Object.keys(SCENARIOS).join(', ')}. With one, it shows your usage beside an idle month; what you don't set is
as for short chats. Numbers are of one month, at list prices of us-east-1.

  --requests N          requests
  --tokens P,C          prompt and completion tokens of a request, such as 500,150
  --seconds N           how long an answer takes, with up to three decimals
  --stream              replies are streamed
  --prepaid             organizations have prepaid credit or budgets
  --keys N              API keys that are used, each of an organization of its own
  --stored-gb N         GB that the tables have from earlier months
  --users N             people who log in to the control plane
  --payload-log         the content of requests is stored
  --deployments N       deployments of organizations that are not deleted
  --instance-hours N    hours of ml.g5.xlarge on SageMaker, of all instances together

  --settings JSON       settings of a deployment, as in cdk.json, such as '{"firewall":{}}' (default: those of cdk.json)
  --assembly DIR        reads a synthesized app instead of synthesizing it
  --json                prints JSON
  --help
`;

const count = (max: bigint) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(BigInt)
    .refine((value) => value <= max, `expected at most ${max}`);

const MAX_TOKENS = 100_000_000n;
// API Gateway ends a stream after 15 minutes.
const MAX_SECONDS = 900;

const Flags = z.object({
  requests: count(MAX_REQUESTS).optional(),
  tokens: z
    .string()
    .regex(/^\d{1,15},\d{1,15}$/, 'expected prompt and completion tokens, such as 500,150')
    .transform((text) => text.split(','))
    .pipe(z.tuple([count(MAX_TOKENS), count(MAX_TOKENS)]))
    .optional(),
  seconds: z
    .string()
    .regex(/^\d{1,3}(\.\d{1,3})?$/, 'expected seconds with up to three decimals, such as 2.5')
    .refine((text) => Number(text) <= MAX_SECONDS, `expected at most ${MAX_SECONDS}`)
    .transform((text) => BigInt(Math.round(Number(text) * 1_000)))
    .optional(),
  stream: z.literal(true).optional(),
  prepaid: z.literal(true).optional(),
  keys: count(1_000_000n)
    .refine((keys) => keys > 0n, 'expected at least 1')
    .optional(),
  'stored-gb': count(1_000_000n).optional(),
  users: count(100_000_000n).optional(),
  'payload-log': z.literal(true).optional(),
  deployments: count(100_000n).optional(),
  'instance-hours': count(1_000_000n).optional(),
  settings: z.string().optional(),
  assembly: z.string().optional(),
  json: z.boolean(),
  help: z.boolean(),
});

export interface Options {
  usages: Readonly<Record<string, Usage>>;
  /** The deployer's settings; undefined: those of cdk.json. */
  settings: unknown;
  /** The folder of a cloud assembly; undefined: it is made. */
  assembly: string | undefined;
  isJson: boolean;
  isHelp: boolean;
}

/** Reads the command line. @throws Error about a flag that is unknown or has a value that it can't have */
export const readOptions = (parameters: readonly string[]): Options => {
  const parsed = Flags.safeParse(parse(parameters));
  if (!parsed.success)
    throw new Error(parsed.error.issues.map(({ path, message }) => `--${String(path[0])}: ${plainReason(message)}.`).join('\n'));
  const flags = parsed.data;
  if (flags.settings !== undefined && flags.assembly !== undefined)
    throw new Error('--settings synthesizes the app, and --assembly reads one that is synthesized. Give one of them.');
  return {
    usages: usagesOf(flags),
    settings: flags.settings === undefined ? undefined : readSettings(flags.settings),
    assembly: flags.assembly,
    isJson: flags.json,
    isHelp: flags.help,
  };
};

const usagesOf = (flags: z.output<typeof Flags>): Options['usages'] => {
  const [promptTokens, completionTokens] = flags.tokens ?? [];
  const given = {
    requests: flags.requests,
    promptTokens,
    completionTokens,
    milliseconds: flags.seconds,
    isStreamed: flags.stream,
    isPrepaid: flags.prepaid,
    keys: flags.keys,
    storedGb: flags['stored-gb'],
    users: flags.users,
    hasPayloadLog: flags['payload-log'],
    deployments: flags.deployments,
    instanceHours: flags['instance-hours'],
  } satisfies { [Name in keyof Usage]: Usage[Name] | undefined };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(set).length === 0) return SCENARIOS;
  return {
    'your usage': { ...SCENARIOS['short chats'], ...set },
    idle: { ...SCENARIOS.idle, storedGb: given.storedGb ?? SCENARIOS.idle.storedGb },
  };
};

const readSettings = (text: string): unknown => {
  try {
    const settings: unknown = JSON.parse(text);
    readConfig(settings);
    return settings;
  } catch (error) {
    throw new Error(`--settings: ${error instanceof SyntaxError ? 'expected JSON' : error instanceof Error ? error.message : error}`);
  }
};

const parse = (parameters: readonly string[]) => {
  const text = { type: 'string' } as const;
  const on = { type: 'boolean' } as const;
  const off = { type: 'boolean', default: false } as const;
  const options = {
    requests: text,
    tokens: text,
    seconds: text,
    stream: on,
    prepaid: on,
    keys: text,
    'stored-gb': text,
    users: text,
    'payload-log': on,
    deployments: text,
    'instance-hours': text,
    settings: text,
    assembly: text,
    json: off,
    help: off,
  } as const;
  rejectKeptByNpm(options, parameters);
  try {
    return parseArgs({ args: [...parameters], strict: true, options }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\nnpm run cost -- --help lists all options.`);
  }
};
