import * as z from 'zod';
import { checkFlags, readFlags } from '../../infra/tools/read-flags.ts';
import type { Bound } from '../bench/lib/keep-in-flight.ts';

const USAGE = `npm run load -- [options]

  --callers N         requests in flight, all the time (default 500; three of four are streams)
  --seconds N         of load (default 60)
  --requests N        ends the load after so many requests, if that is earlier
  --token-delay-ms N  delay between two tokens of the model (default 100)
  --max-tokens N      of a reply (default 32)
  --no-streams        the local run has no streams, and the totals are made from the events at the end: for more than 20,000 requests
  --help
`;

const MAX_SECONDS = 3_600;
// A stream is silent for a minute at most.
const MAX_DELAY_MS = 10_000;
const integer = (least: number, most: number) => z.coerce.number().pipe(z.int().min(least).max(most));

const Flags = z.strictObject({
  callers: integer(20, 2_000),
  seconds: integer(1, MAX_SECONDS),
  requests: integer(1, 1_000_000).optional(),
  'token-delay-ms': integer(0, MAX_DELAY_MS),
  'max-tokens': integer(12, 512),
  'no-streams': z.boolean(),
});

export interface Options {
  callers: number;
  bound: Bound & { ms: number };
  tokenDelayMs: number;
  maxTokens: number;
  hasStreams: boolean;
}

const OPTIONS = {
  callers: { type: 'string', default: '500' },
  seconds: { type: 'string', default: '60' },
  requests: { type: 'string' },
  'token-delay-ms': { type: 'string', default: '100' },
  'max-tokens': { type: 'string', default: '32' },
  'no-streams': { type: 'boolean', default: false },
} as const;

/** Reads the command line of `npm run load`. Ends the process if a flag is unknown or out of range, or is `--help`. */
export const readOptions = (): Options => {
  const flags = checkFlags(Flags, readFlags(USAGE, OPTIONS));
  const { callers, seconds, requests, 'token-delay-ms': tokenDelayMs, 'max-tokens': maxTokens, 'no-streams': noStreams } = flags;
  return {
    callers,
    bound: { ms: seconds * 1_000, ...(requests !== undefined && { requests }) },
    tokenDelayMs,
    maxTokens,
    hasStreams: !noStreams,
  };
};
