import * as z from 'zod';
import { AuditActor } from '../access/origin.ts';

/** A change that was made, or tried. The entry is written with the change itself, in one transaction, and never changed. */
export const AuditEntry = z.object({
  id: z.string(),
  object: z.literal('audit_entry'),
  at: z.int().meta({ description: 'Unix time in milliseconds.' }),
  action: z.string().meta({ description: 'What was done: resource and verb.', examples: ['api_key.rotated'] }),
  actor: AuditActor,
  organization: z.string().nullable().meta({ description: 'Whose log it is in; null: the platform’s.' }),
  target: z.object({ type: z.string(), id: z.string() }).meta({ description: 'What it was done to.' }),
  reason: z.string().nullable(),
  changes: z
    .record(z.string(), z.object({ from: z.unknown(), to: z.unknown() }))
    .meta({ description: 'Of a change, the fields that changed. Secrets are never among them.' }),
  request_id: z.string().nullable(),
  ip_address: z.string().nullable().meta({ description: 'Of an admin it is told to admins alone.' }),
});
export type AuditEntry = z.infer<typeof AuditEntry>;
