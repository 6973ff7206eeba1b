import { parseArgs } from 'node:util';
import * as z from 'zod';

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
] as const;
export type Phase = (typeof PHASES)[number];

export const USAGE = `npm run bench -- [options]

  --seconds-per-phase N  of load on each server at each concurrency (default 5)
  --only a,b             of ${PHASES.join(', ')} (default all)
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
  'request-client': z.enum(['direct', 'sdk']),
  memory: z
    .string()
    .transform((list) => list.split(',').map(Number))
    .pipe(z.array(z.int().min(128).max(10_240)).max(8))
    .optional(),
  help: z.boolean(),
});

export interface Options {
  secondsPerPhase: number;
  phases: ReadonlySet<Phase>;
  requestClient: 'direct' | 'sdk';
  /** Measure one environment of each of these sizes, in MB, and nothing else. */
  memoryMbs: readonly number[] | undefined;
  help: boolean;
}

/**
 * Reads the command line of `npm run bench`.
 * @throws Error about a flag or a phase that is unknown or out of range
 */
export const readOptions = (parameters: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...parameters],
    strict: true,
    options: {
      'seconds-per-phase': { type: 'string', default: '5' },
      only: { type: 'string', default: PHASES.join(',') },
      'request-client': { type: 'string', default: 'direct' },
      memory: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const parsed = Flags.safeParse(values);
  if (!parsed.success) throw new Error(parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n'));
  const { 'seconds-per-phase': secondsPerPhase, only, 'request-client': requestClient, memory: memoryMbs, help } = parsed.data;
  return { secondsPerPhase, phases: new Set(only), requestClient, memoryMbs, help };
};
