import * as z from 'zod';
import { OrganizationLimits } from '../limits/limits.ts';

export const OrganizationName = z.string().trim().min(1).max(100);

/** An organization: a billed customer with users and API keys. */
export const Organization = z.object({
  id: z.string(),
  object: z.literal('organization'),
  name: OrganizationName,
  status: z
    .enum(['active', 'suspended'])
    .meta({ description: 'If `suspended`, its API keys do not work and its members have read-only access.' }),
  limits: OrganizationLimits.nullable().meta({
    description: 'The limits that all of its keys share. An older organization can have null: each key has only its own limits.',
  }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type Organization = z.infer<typeof Organization>;
