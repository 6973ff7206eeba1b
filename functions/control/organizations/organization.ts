import * as z from 'zod';
import { MAX_FRESH_LOGIN_MINUTES } from '../access/login-requirements.ts';
import { AppliedLimits } from '../limits/limits.ts';

/** The id of an organization in a request. */
export const OrganizationId = z.string().min(1).max(64);

export const OrganizationName = z.string().trim().min(1).max(100);

export const FreshLoginMinutes = z.int().min(5).max(MAX_FRESH_LOGIN_MINUTES);

/** An organization: a billed customer with users and API keys. */
export const Organization = z.object({
  id: z.string(),
  object: z.literal('organization'),
  name: OrganizationName,
  status: z
    .enum(['active', 'suspended'])
    .meta({ description: 'If `suspended`, its API keys do not work and its members have read-only access.' }),
  limits: AppliedLimits.nullable().meta({
    description: 'The limits that all of its keys share. An older organization can have null: each key has only its own limits.',
  }),
  has_default_concurrency: z.boolean().meta({
    description: "If true, `limits.concurrency` is the platform's default. Otherwise an admin has set it.",
  }),
  no_content: z.boolean().default(false).meta({
    description:
      'If true, no content is stored for any of its API keys, whatever their own `no_content`: responses have `store: false`, and results are not stored under idempotency keys.',
  }),
  no_content_version: z
    .int()
    .default(0)
    .meta({ description: 'The version of the organization in which `no_content` was last set; 0: never.' }),
  no_content_pending: z.boolean().default(false).meta({
    description: 'If true, the last change of `no_content` has not reached all API keys yet. If it stays true, send the change again.',
  }),
  require_second_factor: z.boolean().default(false).meta({
    description: 'If true, its users without a second factor can do nothing but set one up. Service accounts are exempt.',
  }),
  fresh_login_minutes: FreshLoginMinutes.default(MAX_FRESH_LOGIN_MINUTES).meta({
    description: 'Changes of money and rights require that the user has logged in, or proved who they are, within this time.',
  }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type Organization = z.infer<typeof Organization>;
