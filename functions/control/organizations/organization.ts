import * as z from 'zod';
import { OrganizationLimits } from '../limits/limits.ts';

export const OrganizationName = z.string().trim().min(1).max(100);

/** An organization: it is billed, and it has users and API keys. */
export const Organization = z.object({
  id: z.string(),
  object: z.literal('organization'),
  name: OrganizationName,
  status: z.enum(['active', 'suspended']).meta({ description: 'Of one that is suspended no key opens, and its members can only look.' }),
  limits: OrganizationLimits.nullable().meta({ description: 'null: only its keys are limited.' }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Counted up by every change; the ETag is made of it.' }),
});
export type Organization = z.infer<typeof Organization>;
