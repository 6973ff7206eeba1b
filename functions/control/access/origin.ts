import * as z from 'zod';
import type { ApiEvent } from '../../../shared/http/api-event.ts';

/** Who made a change. An operator runs `npm run admin` with AWS credentials for the deployment. */
export const AuditActor = z.object({
  type: z.enum(['user', 'operator', 'system']),
  id: z.string().meta({ description: 'The id of the user, or the name of the operator.' }),
  email: z.string().nullable(),
  organization: z.string().nullable().meta({ description: 'The user’s organization; null for admins, operators and the system.' }),
});

/** Who made a change, when, and with which request. */
export interface Origin {
  actor: z.infer<typeof AuditActor>;
  requestId: string | null;
  ipAddress: string | null;
  nowMs: number;
}

/** The client that sent a request. The audit log records it, and the identity provider uses it for threat protection. */
export interface Caller {
  ipAddress: string;
  serverName: string;
  serverPath: string;
  userAgent?: string;
  requestId: string;
  receivedAtMs: number;
}

/** Returns the client that sent a request. */
export const callerOf = ({ requestContext, path, requestId, receivedAtMs }: ApiEvent): Caller => ({
  ipAddress: requestContext.identity?.sourceIp ?? 'unknown',
  serverName: requestContext.domainName ?? 'control',
  serverPath: path,
  userAgent: requestContext.identity?.userAgent ?? '',
  requestId,
  receivedAtMs,
});

/** Returns the origin of a change that a user makes with a request. */
export const originOf = (
  { ipAddress, requestId, receivedAtMs }: Caller,
  { id, email, organization }: Pick<Origin['actor'], 'id' | 'email' | 'organization'>,
): Origin => ({ actor: { type: 'user', id, email, organization }, requestId, ipAddress, nowMs: receivedAtMs });
