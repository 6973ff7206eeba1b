import * as z from 'zod';
import { checkFlags, readFlags } from '../../infra/tools/read-flags.ts';

const PHASES = [
  'requests',
  'messages',
  'first-token',
  'chunks',
  'parts',
  'long-stream',
  'tokenizer',
  'cold-start',
  'database',
  'in-flight',
  'rate',
] as const;
export type Phase = (typeof PHASES)[number];

const USAGE = `npm run bench -- [options]

  --seconds-per-phase N  of load on each server at each concurrency (default 5)
  --only a,b             of ${PHASES.join(', ')} (default all)
  --rate N               requests a second in the phase rate (default 40)
  --portkey FOLDER       where Portkey's package is installed (CONTRIBUTING.md): the phase rate also measures it
  --request-client C     direct or sdk: how the function calls AWS (default direct)
  --memory 128,256,…     measures \`inference\` at these sizes in MB instead, with a share of a core and cold caches
  --help
`;

const Flags = z.strictObject({
  'seconds-per-phase': z.coerce.number().pipe(z.number().min(0.5).max(10)),
  only: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum(PHASES))),
  rate: z.coerce.number().pipe(z.number().min(1).max(200)),
  portkey: z.string().optional(),
  'request-client': z.enum(['direct', 'sdk']),
  memory: z
    .string()
    .transform((list) => list.split(',').map(Number))
    .pipe(z.array(z.int().min(128).max(10_240)).max(8))
    .optional(),
});

export interface Options {
  secondsPerPhase: number;
  phases: ReadonlySet<Phase>;
  /** Requests a second in the phase `rate`. */
  perSecond: number;
  /** The folder in which Portkey's package is installed. */
  portkeyFolder: string | undefined;
  requestClient: 'direct' | 'sdk';
  /** Measure one environment of each of these sizes, in MB, and nothing else. */
  memoryMbs: readonly number[] | undefined;
}

const OPTIONS = {
  'seconds-per-phase': { type: 'string', default: '5' },
  only: { type: 'string', default: PHASES.join(',') },
  rate: { type: 'string', default: '40' },
  portkey: { type: 'string' },
  'request-client': { type: 'string', default: 'direct' },
  memory: { type: 'string' },
} as const;

/**
 * Reads the command line of `npm run bench`. Ends the process if a flag or a phase is unknown or out of range, or with
 * `--help`.
 */
export const readOptions = (): Options => {
  const flags = checkFlags(Flags, readFlags(USAGE, OPTIONS));
  const { 'seconds-per-phase': secondsPerPhase, only, rate: perSecond, portkey: portkeyFolder, memory: memoryMbs } = flags;
  return { secondsPerPhase, phases: new Set(only), perSecond, portkeyFolder, requestClient: flags['request-client'], memoryMbs };
};
