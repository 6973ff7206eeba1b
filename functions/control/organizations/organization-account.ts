import * as z from 'zod';
import type { OrganizationLimits } from '../../../shared/admission/organization.ts';
import { nanosOf } from '../../../shared/prices/dollars.ts';
import { Dollars } from '../../../shared/prices/dollars-field.ts';

export const OrganizationName = z.string().trim().min(1).max(100);

/** The limits that all keys of an organization share. What is null does not bind; its requests in flight are at most 1,000 in any case. */
export const LimitFields = z.strictObject({
  requests_per_minute: z.int().min(0).max(1_000_000).nullable().default(null),
  tokens_per_minute: z.int().min(0).max(1_000_000_000).nullable().default(null),
  concurrency: z.int().min(0).max(1_000).default(1_000),
  month_budget: Dollars.nullable().default(null).meta({ description: 'What it may spend in a month (UTC), counted from when it is set.' }),
  prepaid: z.boolean().default(false).meta({ description: 'Its requests are paid from credit that was granted before.' }),
});
export type LimitFields = z.output<typeof LimitFields>;

/** An organization: who is billed, and whose the users and API keys are. */
export const Organization = z.object({
  id: z.string(),
  object: z.literal('organization'),
  name: OrganizationName,
  status: z.enum(['active', 'suspended']).meta({ description: 'Of one that is suspended no key opens, and its members can only look.' }),
  limits: LimitFields.nullable().meta({ description: 'null: only its keys are limited.' }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Counted up by every change; the ETag is made of it.' }),
});
export type Organization = z.infer<typeof Organization>;

/** The limits as a limiter has them. */
export const limiterLimitsOf = ({
  requests_per_minute,
  tokens_per_minute,
  concurrency,
  month_budget,
  prepaid,
}: LimitFields): OrganizationLimits => ({
  ...(requests_per_minute !== null && { requests_per_minute }),
  ...(tokens_per_minute !== null && { tokens_per_minute }),
  concurrency,
  ...(month_budget !== null && { month_budget_nanos: nanosOf(month_budget) }),
  prepaid,
});
