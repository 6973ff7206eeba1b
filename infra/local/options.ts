import { parseArgs } from 'node:util';
import * as z from 'zod';
import { plainReason } from '../../shared/http/plain-reason.ts';
import { rejectKeptByNpm } from '../tools/kept-by-npm.ts';

const DEFAULT_PORT = 4000;
const HIGHEST_FIRST_PORT = 65_532;
const MAX_ENVIRONMENTS = 64;
const MIN_SCHEDULE_MS = 10;

export const USAGE = `npm start -- [options]

  --port N             port of the serverless host; on-demand uses N+1, control N+2, the panel N+3 (default ${DEFAULT_PORT}, 0: any free ports)
  --environments N     up to N processes per function, and no more than it reserves, with one invocation each, frozen in between as on Lambda
  --ephemeral          keep the database in memory and delete all data at the end
  --stop-on-disconnect stop a function when its caller disconnects (AWS does not)
  --container URL      use this OpenAI-compatible server instead of our own model container
  --token-delay-ms N   delay between two tokens of our own container (default 20)
  --batch-window-ms N  maximum batching window of streams, by which usage totals are delayed (default as deployed)
  --queue-delay-ms N   maximum delay of queues, and so the time between two looks at a deployment (default as deployed)
  --schedule-ms N      maximum period of schedules (default as deployed)
  --late-functions     start each function at its first invocation, as Lambda does; the run is ready sooner
  --no-streams         without the tables' streams: nothing makes totals or delivers notifications. For more than some 20,000 requests, from
                       which on the emulator takes longer and longer for a write to a table with a stream
  --state DIR          folder of the database, logs and local.json (default .sluice)
  --second-release DIR run the functions of another release, which was unpacked to DIR, beside those of this one
  --assembly DIR       run this cloud assembly instead of synthesizing the app
  --check-permissions  deny the AWS calls that a function's role does not allow, and list the used permissions in logs/permissions.log
  --quiet              do not print what is being started, and do not log requests and events
  --help
`;

const count = (min: number, max: number) =>
  z.string().regex(/^\d+$/, `expected a whole number from ${min} to ${max}`).transform(Number).pipe(z.int().min(min).max(max));

const Flags = z.strictObject({
  port: count(0, HIGHEST_FIRST_PORT),
  environments: count(1, MAX_ENVIRONMENTS).optional(),
  ephemeral: z.boolean(),
  'stop-on-disconnect': z.boolean(),
  container: z.url({ protocol: /^https?$/ }).optional(),
  'token-delay-ms': count(0, 60_000),
  'batch-window-ms': count(0, 300_000).optional(),
  'queue-delay-ms': count(0, 900_000).optional(),
  'schedule-ms': count(MIN_SCHEDULE_MS, 86_400_000).optional(),
  'late-functions': z.boolean(),
  'no-streams': z.boolean(),
  state: z.string().min(1),
  'second-release': z.string().min(1).optional(),
  assembly: z.string().min(1).optional(),
  'check-permissions': z.boolean(),
  quiet: z.boolean(),
  help: z.boolean(),
});
export type Flags = z.infer<typeof Flags>;

/**
 * Parses the command line of `npm start`.
 * @throws Error naming the first unknown or invalid flag, or one that npm kept
 */
export const readFlags = (parameters: readonly string[]): Flags => {
  const options = {
    port: { type: 'string', default: String(DEFAULT_PORT) },
    environments: { type: 'string' },
    ephemeral: { type: 'boolean', default: false },
    'stop-on-disconnect': { type: 'boolean', default: false },
    container: { type: 'string' },
    'token-delay-ms': { type: 'string', default: '20' },
    'batch-window-ms': { type: 'string' },
    'queue-delay-ms': { type: 'string' },
    'schedule-ms': { type: 'string' },
    'late-functions': { type: 'boolean', default: false },
    'no-streams': { type: 'boolean', default: false },
    state: { type: 'string', default: '.sluice' },
    'second-release': { type: 'string' },
    assembly: { type: 'string' },
    'check-permissions': { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  rejectKeptByNpm(options, parameters);
  const { values } = parseArgs({ args: [...parameters], strict: true, allowPositionals: false, options });
  const parsed = Flags.safeParse(values);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`--${issue?.path.join('.')}: ${plainReason(issue?.message ?? '')}.`);
};
