import * as z from 'zod';
import { changeBody } from '../access/change-body.ts';
import { KeyBudgets, KeyBudgetsUpdate, KeyLimits, KeyLimitsUpdate, PerUserLimits } from '../limits/limits.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { ProjectId } from '../projects/project.ts';

const KeyName = z.string().trim().min(1).max(100);
export const KeyModels = z.array(z.string().min(1).max(256)).min(1).max(16);
// OpenAI's limits for metadata.
const Metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= 16, 'expected at most 16 keys')
  .refine((metadata) => !Object.hasOwn(metadata, '__proto__'), 'expected no key `__proto__`')
  .meta({ description: 'Up to 16 key-value pairs of your own.' });
const ExpiresAt = z.int().positive().max(99_999_999_999).meta({ description: 'Unix time in seconds.' });

// Bounds for members: they cannot loosen what an owner has set.
const OwnerRestrictions = z.object({ models: z.array(z.string()).nullable(), expires_at: z.int().nullable(), no_content: z.boolean() });
export type OwnerRestrictions = z.infer<typeof OwnerRestrictions>;
export const UNRESTRICTED: OwnerRestrictions = { models: null, expires_at: null, no_content: false };

/** Keys of other purposes than `standard` are temporary: they end within an hour, and can't be changed. */
export const KeyPurpose = z.enum(['standard', 'playground', 'federated']);
export type KeyPurpose = z.infer<typeof KeyPurpose>;

/** An API key on the wire, without its secret. */
export const ApiKey = z.object({
  id: z.string(),
  object: z.literal('api_key'),
  organization: z.string(),
  name: z.string(),
  purpose: KeyPurpose.meta({
    description:
      '`standard`: works until it is revoked or expires. `playground`: for a person to try models, for an hour at most. `federated`: a workload got it for its token.',
  }),
  scope: z.enum(['serverless', 'on_demand']).meta({ description: 'The host that the key works on.' }),
  status: z.enum(['active', 'revoked']),
  hint: z.string().meta({ description: 'The start and the end of the secret.', examples: ['sk-s…4f2a'] }),
  models: z.array(z.string()).nullable().meta({ description: 'The models that the key can use; null: all models.' }),
  limits: KeyLimits,
  budgets: KeyBudgets.meta({
    description: 'The most that the key can spend per day, per month (UTC) and in total, in dollars; null: no limit.',
  }),
  per_user: PerUserLimits.nullable().meta({ description: 'The limits of each end user of the key; null: none.' }),
  expires_at: z.int().nullable().meta({ description: 'Unix time in seconds; null: the key does not expire.' }),
  no_content: z.boolean().meta({
    description: 'If true, no content is stored: responses have `store: false`, and results are not stored under idempotency keys.',
  }),
  no_fallback: z.boolean().meta({ description: 'If true, no other model answers when the one that a request names fails.' }),
  owner_restrictions: OwnerRestrictions.meta({
    description: 'What owners set. Members can restrict the key further, but not beyond these values.',
  }),
  project_id: z.string().nullable().meta({ description: 'The project that its usage belongs to; null: none.' }),
  metadata: z.record(z.string(), z.string()),
  created_at: z.int(),
  created_by: z.string().meta({ description: 'The id of the user or the name of the operator who created the key.' }),
  updated_at: z.int(),
  previous_secret_until: z
    .int()
    .nullable()
    .meta({ description: 'After a rotation, the time until which the previous secret works. Unix time in seconds.' }),
  last_used_at: z.int().nullable().meta({ description: 'When the last request was admitted. Unix time in seconds; null: never used.' }),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** Fields with a customer's own texts, which the audit log doesn't record. */
export const AUDITED_TEXTS = ['metadata'] as const;

/** An API key in the `accounts` table: without the facts in its limiter items, but with their number. */
export type StoredApiKey = Omit<ApiKey, 'last_used_at'> & {
  shards: number;
  /** The number of limiter items for its original limits alone; tokens or budgets can have allowed fewer. */
  load_shards: number;
  /** The user whose active keys it counts among. */
  counted_for?: string | undefined;
  /** Only temporary keys: the series whose ids are used again; see temporary-key-store.ts. */
  series?: string | undefined;
  /** Only temporary keys: the concurrency for which its organization has counted its id. */
  counted_concurrency?: number | undefined;
};

const MIN_LIFETIME_SECONDS = 60;
/** The longest lifetime of a temporary key. */
export const MAX_LIFETIME_SECONDS = 3_600;
/** The lifetime of a temporary key, in seconds. */
export const KeyLifetime = z.int().min(MIN_LIFETIME_SECONDS).max(MAX_LIFETIME_SECONDS);

const NewKeyFields = z.strictObject({
  name: KeyName,
  purpose: z.enum(['standard', 'playground']).default('standard').meta({
    description: 'A `playground` key is for a person who tries models. It expires by itself and does not count among the other keys.',
  }),
  organization: OrganizationId.optional().meta({
    description: 'The organization that owns the key. Required for admins; otherwise your own organization.',
  }),
  scope: z.enum(['serverless', 'on_demand']).default('serverless'),
  models: KeyModels.nullable().default(null).meta({ description: 'The models that the key can use, at most 16; null: all models.' }),
  limits: KeyLimits.optional().meta({ description: 'Requires `keys:limit`.' }),
  budgets: KeyBudgets.optional().meta({ description: 'Requires `keys:limit`.' }),
  per_user: PerUserLimits.nullable().default(null).meta({ description: 'The limits of each end user of the key. Requires `keys:limit`.' }),
  expires_at: ExpiresAt.nullable().default(null),
  expires_in_seconds: KeyLifetime.optional().meta({
    description: `How long a playground key works. Default: ${MAX_LIFETIME_SECONDS}. Other keys have \`expires_at\` instead.`,
  }),
  no_content: z.boolean().default(false),
  no_fallback: z.boolean().default(false).meta({ description: 'If true, no other model answers when the one that a request names fails.' }),
  project_id: ProjectId.nullable().default(null).meta({ description: 'The project that its usage belongs to. Requires `keys:limit`.' }),
  metadata: Metadata.default({}),
});

export const NewApiKey = NewKeyFields.refine(({ purpose, expires_at }) => purpose === 'standard' || expires_at === null, {
  path: ['expires_at'],
  message: "expected 'expires_in_seconds' instead, because the key is for the playground",
}).refine(({ purpose, expires_in_seconds }) => purpose === 'playground' || expires_in_seconds === undefined, {
  path: ['expires_in_seconds'],
  message: "expected 'expires_at' instead, because the key is not for the playground",
});
export type NewApiKey = z.output<typeof NewApiKey>;

/** Absent fields keep their values. */
export const ApiKeyUpdate = changeBody({
  name: KeyName.optional(),
  models: KeyModels.nullable().optional(),
  limits: KeyLimitsUpdate.optional(),
  budgets: KeyBudgetsUpdate.optional(),
  per_user: PerUserLimits.nullable()
    .optional()
    .meta({ description: 'Replaces all limits of end users; null removes them. Requires `keys:limit`.' }),
  expires_at: ExpiresAt.nullable().optional(),
  no_content: z.boolean().optional(),
  no_fallback: z.boolean().optional(),
  project_id: ProjectId.nullable().optional().meta({ description: 'Earlier usage stays in its project. Requires `keys:limit`.' }),
  metadata: Metadata.optional(),
});
export type ApiKeyUpdate = z.output<typeof ApiKeyUpdate>;

const MAX_OVERLAP_SECONDS = 604_800;

export const Rotation = z.strictObject({
  overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).meta({
    description: 'How long the previous secret keeps working. Use 0 if it may have leaked, otherwise the time that you need to replace it.',
  }),
});
export type Rotation = z.output<typeof Rotation>;

/** A key with its secret, which is shown only once. */
export const ApiKeyWithSecret = ApiKey.extend({
  secret: z.string().meta({ description: 'The API key itself. It cannot be retrieved again, so save it now.' }),
});
export type ApiKeyWithSecret = z.infer<typeof ApiKeyWithSecret>;
