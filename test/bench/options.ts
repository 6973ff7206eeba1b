import { parseArgs } from 'node:util';
import * as z from 'zod';

const PHASES = ['requests', 'first-token', 'chunks', 'parts', 'long-stream', 'tokenizer', 'cold-start', 'database', 'in-flight'] as const;
export type Phase = (typeof PHASES)[number];

export const USAGE = `npm run bench -- [options]

  --seconds-per-phase N  of load on each server at each concurrency (default 5)
  --only a,b             of ${PHASES.join(', ')} (default all)
  --help
`;

const Flags = z.strictObject({
  'seconds-per-phase': z.coerce.number().pipe(z.number().min(0.5).max(10)),
  only: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum(PHASES))),
  help: z.boolean(),
});

export interface Options {
  secondsPerPhase: number;
  phases: ReadonlySet<Phase>;
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
      help: { type: 'boolean', default: false },
    },
  });
  const parsed = Flags.safeParse(values);
  if (!parsed.success) throw new Error(parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n'));
  const { 'seconds-per-phase': secondsPerPhase, only, help } = parsed.data;
  return { secondsPerPhase, phases: new Set(only), help };
};
