import type { ReplyBody, RequestBody } from '../../client/routes.ts';

export type Settings = ReplyBody<'GET /v1/observability/payload-log'>;
export type PatternName = Settings['patterns'][number];

/** The patterns that are found in texts and replaced, with their names. */
export const PATTERN_LABELS: Readonly<Record<PatternName, string>> = {
  email: 'Email addresses',
  phone: 'Phone numbers',
  credit_card: 'Credit card numbers',
  iban: 'IBANs',
  ip_address: 'IP addresses',
  aws_key: 'AWS keys',
  api_key: 'API keys',
  bearer_token: 'Bearer tokens',
  private_key: 'Private keys',
};
export const PATTERN_NAMES = Object.keys(PATTERN_LABELS) as PatternName[];

/** The settings as the form edits them. A pattern is true if it is replaced. */
export type SettingsDraft = Readonly<Record<PatternName, boolean>> & {
  readonly enabled: boolean;
  readonly retention_days: string;
  readonly tool_arguments: string;
  /** One per line. */
  readonly paths: string;
};

export const LABELS: Readonly<Record<keyof SettingsDraft, string>> = {
  enabled: 'Log the content of requests',
  retention_days: 'Retention',
  tool_arguments: 'Tool arguments and results',
  paths: 'JSON paths to redact',
  ...PATTERN_LABELS,
};

export const draftOf = ({ enabled, retention_days, tool_arguments, paths, patterns }: Settings): SettingsDraft => ({
  enabled,
  retention_days: String(retention_days),
  tool_arguments,
  paths: paths.join('\n'),
  ...(Object.fromEntries(PATTERN_NAMES.map((name) => [name, patterns.includes(name)])) as Record<PatternName, boolean>),
});

type Body = RequestBody<'PUT /v1/observability/payload-log'>;

/** The settings that a form sends. Empty lines are left out. */
export const bodyOf = ({ enabled, retention_days, tool_arguments, paths, ...patterns }: SettingsDraft): Body => ({
  enabled,
  retention_days: Number(retention_days) as NonNullable<Body['retention_days']>,
  tool_arguments: tool_arguments as NonNullable<Body['tool_arguments']>,
  paths: paths
    .split('\n')
    .map((path) => path.trim())
    .filter(Boolean),
  patterns: PATTERN_NAMES.filter((name) => patterns[name]),
});
