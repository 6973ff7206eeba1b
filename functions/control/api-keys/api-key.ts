import * as z from 'zod';
import { KeyBudgets, KeyBudgetsUpdate, KeyLimits, KeyLimitsUpdate } from '../limits/limits.ts';

const KeyName = z.string().trim().min(1).max(100);
const Models = z.array(z.string().min(1).max(256)).min(1).max(16);
/** OpenAI's bounds of metadata. */
const Metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= 16, 'expected at most 16 keys')
  .refine((metadata) => !Object.hasOwn(metadata, '__proto__'), 'expected no key `__proto__`')
  .meta({ description: 'Up to 16 texts of your own.' });
const ExpiresAt = z.int().positive().max(99_999_999_999).meta({ description: 'Unix time in seconds.' });

/** An API key as its organization sees it; never its secret. */
export const ApiKey = z.object({
  id: z.string(),
  object: z.literal('api_key'),
  organization: z.string(),
  name: z.string(),
  scope: z.enum(['serverless', 'on_demand']).meta({ description: 'The host that it opens.' }),
  status: z.enum(['active', 'revoked']),
  hint: z.string().meta({ description: 'How its secret begins and ends.', examples: ['sk-s…4f2a'] }),
  models: z.array(z.string()).nullable().meta({ description: 'The models that it may use; null: every one.' }),
  limits: KeyLimits,
  budgets: KeyBudgets.meta({ description: 'Dollars that it may spend in a day, in a month (UTC) and in all; null: no such budget.' }),
  expires_at: z.int().nullable().meta({ description: 'Unix time in seconds; null: never.' }),
  no_content: z.boolean().meta({ description: 'Whether results of its requests are never kept under their idempotency keys.' }),
  metadata: z.record(z.string(), z.string()),
  created_at: z.int(),
  created_by: z.string().meta({ description: 'The id of the user; of an operator the name.' }),
  updated_at: z.int(),
  previous_secret_until: z
    .int()
    .nullable()
    .meta({ description: 'After a rotation: until when the secret before still opens. Unix time in seconds.' }),
  last_used_at: z.int().nullable().meta({ description: 'When its last request was let in: Unix time in seconds; null: never yet.' }),
  version: z.int().meta({ description: 'Counted up by every change; the ETag is made of it.' }),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** An API key at rest, in the table `accounts`: without what its limiters know, and with their number. */
export type StoredApiKey = Omit<ApiKey, 'last_used_at'> & {
  shards: number;
  /** The number of limiter items that its first limits needed, even where its tokens or budgets allowed fewer. */
  load_shards: number;
};

export const NewApiKey = z.strictObject({
  name: KeyName,
  organization: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Whose key it is: your own organization, unless you are an admin, who names it.' }),
  scope: z.enum(['serverless', 'on_demand']).default('serverless'),
  models: Models.nullable().default(null).meta({ description: 'The models that it may use, at most 16; null: every one.' }),
  limits: KeyLimits.optional().meta({ description: 'For owners to set.' }),
  budgets: KeyBudgets.optional().meta({ description: 'For owners to set.' }),
  expires_at: ExpiresAt.nullable().default(null),
  no_content: z.boolean().default(false),
  metadata: Metadata.default({}),
});
export type NewApiKey = z.output<typeof NewApiKey>;

/** What is absent stays as it is. */
export const ApiKeyUpdate = z.strictObject({
  name: KeyName.optional(),
  models: Models.nullable().optional(),
  limits: KeyLimitsUpdate.optional(),
  budgets: KeyBudgetsUpdate.optional(),
  expires_at: ExpiresAt.nullable().optional(),
  no_content: z.boolean().optional(),
  metadata: Metadata.optional(),
});
export type ApiKeyUpdate = z.output<typeof ApiKeyUpdate>;

/** A week. */
const MAX_OVERLAP_SECONDS = 604_800;

export const Rotation = z.strictObject({
  overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).meta({
    description: 'How long the secret before still opens: 0 where it may have been seen by others, else as long as you need to replace it.',
  }),
});
export type Rotation = z.output<typeof Rotation>;

/** A key with its secret, which is shown this once. */
export const ApiKeyWithSecret = ApiKey.extend({
  secret: z.string().meta({ description: 'The API key itself. It is stored nowhere: keep it now.' }),
});
export type ApiKeyWithSecret = z.infer<typeof ApiKeyWithSecret>;
