import { parseArgs } from 'node:util';
import * as z from 'zod';
import { DialectName } from '../../../shared/models/model.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;

// The others generate no text.
const ChatDialect = DialectName.exclude(['tei']);

export const USAGE = `npm run conformance -- [options]

  --container URL   the container to test (default: our own, started for this run, in both dialects)
  --path PATH       where it accepts requests (default: /invocations, or else /v1/chat/completions)
  --model NAME      the name of its model (default: none is sent)
  --dialect NAME    the dialect of the requests: ${ChatDialect.options.join(' or ')} (default vllm)
  --timeout-ms N    the timeout of one request (default ${DEFAULT_TIMEOUT_MS})
  --markdown FILE   write the tables to this file too
  --help

Exits with 0 when nothing fails, 2 when something does, 1 when the container could not be reached.
`;

const Flags = z.strictObject({
  container: z.url({ protocol: /^https?$/ }).optional(),
  path: z.string().startsWith('/').optional(),
  model: z.string().optional(),
  dialect: ChatDialect,
  'timeout-ms': z.string().regex(/^\d+$/, 'expected a whole number').transform(Number).pipe(z.int().min(1).max(MAX_TIMEOUT_MS)),
  markdown: z.string().min(1).optional(),
  help: z.boolean(),
});
export type Flags = z.infer<typeof Flags>;

/** A mistake in the command line, which is reported without a stack trace. */
export class UsageError extends Error {}

/**
 * Reads the command line of `npm run conformance`.
 * @throws UsageError with one sentence about the first flag that is unknown or has a wrong value
 */
export const readFlags = (parameters: readonly string[]): Flags => {
  const parsed = Flags.safeParse(parsedStrictly(parameters));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`--${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { container, path, model } = parsed.data;
  if (container === undefined && (path ?? model) !== undefined) throw new UsageError('--path and --model belong to a --container');
  return parsed.data;
};

const options = {
  container: { type: 'string' },
  path: { type: 'string' },
  model: { type: 'string' },
  dialect: { type: 'string', default: 'vllm' },
  'timeout-ms': { type: 'string', default: String(DEFAULT_TIMEOUT_MS) },
  markdown: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

const parsedStrictly = (parameters: readonly string[]): Record<string, unknown> => {
  try {
    return parseArgs({ args: [...parameters], strict: true, allowPositionals: false, options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
};
