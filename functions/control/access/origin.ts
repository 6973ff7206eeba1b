import * as z from 'zod';
import type { ApiEvent } from '../../../shared/http/api-event.ts';

/** Who made a change. `operator`: someone with the deployment's own credentials, through `npm run admin`. */
export const AuditActor = z.object({
  type: z.enum(['user', 'operator', 'system']),
  id: z.string().meta({ description: 'The id of a user; the name that an operator gave.' }),
  email: z.string().nullable(),
  organization: z.string().nullable().meta({ description: 'Of a user: whose; null: of an admin, an operator or the system.' }),
});

/** Who makes a change, when, and by which request. */
export interface Origin {
  actor: z.infer<typeof AuditActor>;
  requestId: string | null;
  ipAddress: string | null;
  nowMs: number;
}

/** The client of a request, for the identity provider's own protection and the audit log. */
export interface Caller {
  ipAddress: string;
  serverName: string;
  serverPath: string;
  userAgent?: string;
  requestId: string;
  receivedAtMs: number;
}

/** The client that sent a request. */
export const callerOf = ({ requestContext, path, requestId, receivedAtMs }: ApiEvent): Caller => ({
  ipAddress: requestContext.identity?.sourceIp ?? 'unknown',
  serverName: requestContext.domainName ?? 'control',
  serverPath: path,
  userAgent: requestContext.identity?.userAgent ?? '',
  requestId,
  receivedAtMs,
});

/** A change that a user makes with a request. */
export const originOf = (
  { ipAddress, requestId, receivedAtMs }: Caller,
  { id, email, organization }: Pick<Origin['actor'], 'id' | 'email' | 'organization'>,
): Origin => ({ actor: { type: 'user', id, email, organization }, requestId, ipAddress, nowMs: receivedAtMs });
