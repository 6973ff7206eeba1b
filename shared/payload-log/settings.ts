import * as z from 'zod';

/** Patterns that are found in texts and replaced, whatever field they are in. */
export const PATTERNS = [
  'email',
  'phone',
  'credit_card',
  'iban',
  'ip_address',
  'aws_key',
  'api_key',
  'bearer_token',
  'private_key',
] as const;
export const PatternName = z.enum(PATTERNS);
export type PatternName = z.infer<typeof PatternName>;

/** Days for which content can be stored. The bucket has one rule for each. */
export const RETENTION_DAYS = [1, 7, 30, 90] as const;
export const RetentionDays = z.literal(RETENTION_DAYS);
export type RetentionDays = z.infer<typeof RetentionDays>;

/** Parts of logged content to replace. */
export interface RedactionRules {
  patterns: readonly PatternName[];
  /** Paths of values, as `json-path.ts` parses them. */
  paths: readonly string[];
  tool_arguments: 'redact' | 'keep';
}

/** The settings of the payload log of an organization, or of one of its API keys. */
export const PayloadLogSettings = z.object({
  enabled: z.boolean(),
  retention_days: RetentionDays,
  patterns: z.array(PatternName),
  paths: z.array(z.string()),
  tool_arguments: z.enum(['redact', 'keep']),
  /** Unix time in seconds. */
  updated_at: z.int(),
  /** The id of the user. */
  updated_by: z.string(),
  version: z.int(),
  /** Only an organization's settings: the last change has yet to reach some of its API keys. */
  pending: z.boolean().default(false),
});
export type PayloadLogSettings = z.infer<typeof PayloadLogSettings>;
