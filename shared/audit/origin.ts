import * as z from 'zod';

/**
 * The author of a change. An operator runs `npm run admin` with AWS credentials for the deployment; the system is a
 * function that runs by itself.
 */
export const AuditActor = z.object({
  type: z.enum(['user', 'operator', 'system']),
  id: z.string().meta({ description: 'The id of the user, or the name of the operator.' }),
  email: z.string().nullable(),
  organization: z.string().nullable().meta({
    description:
      "The user's organization, or that whose identity provider caused it; null for admins, operators and what the system does by itself.",
  }),
});

/** The author and time of a change, and its request. */
export interface Origin {
  actor: z.infer<typeof AuditActor>;
  requestId: string | null;
  ipAddress: string | null;
  nowMs: number;
}

/** Returns the origin of a change that a function makes by itself. @param functionName such as `billing` */
export const systemOrigin = (functionName: string, nowMs: number): Origin => ({
  actor: { type: 'system', id: functionName, email: null, organization: null },
  requestId: null,
  ipAddress: null,
  nowMs,
});
