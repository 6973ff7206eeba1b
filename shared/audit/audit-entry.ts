import * as z from 'zod';
import { AuditActor } from './origin.ts';

/**
 * A change or a login attempt. The entry of a change is written in the same transaction. Entries are never modified.
 */
export const AuditEntry = z.object({
  id: z.string(),
  object: z.literal('audit_entry'),
  at: z.int().meta({ description: 'Unix time in milliseconds.' }),
  action: z.string().meta({ description: 'The type of the resource and what was done to it.', examples: ['api_key.rotated'] }),
  actor: AuditActor,
  organization: z.string().nullable().meta({ description: "The organization whose log has this entry; null for the platform's log." }),
  target: z.object({ type: z.string(), id: z.string() }).meta({ description: 'The resource that was changed.' }),
  reason: z.string().nullable(),
  changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })).meta({
    description:
      'The fields that changed, with their old and new values. Never contains secrets; a text that customers write has the value `[not recorded]`.',
  }),
  request_id: z.string().nullable(),
  ip_address: z.string().nullable().meta({ description: 'IP address of the client. Only admins can see the addresses of admins.' }),
});
export type AuditEntry = z.infer<typeof AuditEntry>;
