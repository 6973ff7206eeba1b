import * as z from 'zod';
import { parseJsonPath } from '../../../../shared/payload-log/json-path.ts';
import { Payload } from '../../../../shared/payload-log/payload.ts';
import { PATTERNS, PatternName, type PayloadLogSettings, RetentionDays } from '../../../../shared/payload-log/settings.ts';

const MAX_PATHS = 20;
const MAX_PATH_CHARACTERS = 200;

const Path = z
  .string()
  .max(MAX_PATH_CHARACTERS)
  .refine(
    (path) => parseJsonPath(path) !== undefined,
    "expected a path such as $.messages[*].content: '$', then up to 16 of .name, ['name'], [0], [*] and .*",
  );

const enabled = z.boolean().meta({ description: 'Whether the content of requests is logged.' });
const retentionDays = RetentionDays.meta({
  description: 'How many days content is kept. It is deleted for good within two days after that.',
});
const patterns = z.array(PatternName).meta({ description: 'What is found in all texts and replaced.' });
const paths = z.array(z.string()).meta({
  description: 'Paths of values that are replaced, in the body of the request and in that of the response.',
  examples: [['$.metadata']],
});
const toolArguments = z.enum(['redact', 'keep']).meta({
  description:
    'Whether the arguments of tool calls and the results of tools are replaced, or searched like other content. Token ids and log probabilities are always replaced, because they repeat a text in pieces.',
});

/** The settings that an owner chooses. A `PUT` replaces all of them. */
export const NewPayloadLog = z.strictObject({
  enabled,
  retention_days: retentionDays.default(30),
  patterns: patterns.check(z.maxLength(PATTERNS.length)).default([...PATTERNS]),
  paths: z
    .array(Path)
    .max(MAX_PATHS)
    .default([])
    .meta({ ...paths.meta() }),
  tool_arguments: toolArguments.default('redact'),
});
export type NewPayloadLog = z.output<typeof NewPayloadLog>;

export const PayloadLogResource = z.object({
  object: z.literal('payload_log'),
  organization: z.string(),
  api_key: z.string().nullable().meta({ description: 'The API key whose settings were requested; null: those of the organization.' }),
  source: z.enum(['api_key', 'organization', 'default']).meta({
    description:
      'Where the settings come from: `api_key` for settings of its own, `organization` if it has none, `default` if nobody has set any.',
  }),
  enabled,
  retention_days: retentionDays,
  patterns,
  paths,
  tool_arguments: toolArguments,
  pending: z.boolean().meta({
    description: 'If true, the last change has not reached all API keys yet. If it stays true, send the change again.',
  }),
  updated_at: z.int().nullable().meta({ description: 'Unix time in seconds.' }),
  updated_by: z.string().nullable().meta({ description: 'The id of the user.' }),
  version: z.int(),
});
export type PayloadLogResource = z.infer<typeof PayloadLogResource>;

/** The settings until someone changes them. */
export const DEFAULTS = NewPayloadLog.parse({ enabled: false });

/**
 * Converts settings to the wire.
 * @param own the owner's own settings; without any, an API key has those of its organization
 */
export const toPayloadLogResource = (
  organization: string,
  apiKey: string | undefined,
  own: PayloadLogSettings | undefined,
  inherited?: PayloadLogSettings | undefined,
): PayloadLogResource => {
  const settings = own ?? inherited;
  return {
    object: 'payload_log',
    organization,
    api_key: apiKey ?? null,
    source: own && apiKey !== undefined ? 'api_key' : settings ? 'organization' : 'default',
    enabled: settings?.enabled ?? DEFAULTS.enabled,
    retention_days: settings?.retention_days ?? DEFAULTS.retention_days,
    patterns: settings?.patterns ?? DEFAULTS.patterns,
    paths: settings?.paths ?? DEFAULTS.paths,
    tool_arguments: settings?.tool_arguments ?? DEFAULTS.tool_arguments,
    pending: settings?.pending ?? false,
    updated_at: settings?.updated_at ?? null,
    updated_by: settings?.updated_by ?? null,
    version: own?.version ?? 0,
  };
};

/** The logged content of a request and of its reply. */
export const PayloadResource = Payload.extend({ object: z.literal('request.payload') }).meta({
  description:
    'The content of a request and of its response, after redaction. What was replaced is `[redacted:…]`, and what was too large is `[cut]`.',
});
export type PayloadResource = z.infer<typeof PayloadResource>;
