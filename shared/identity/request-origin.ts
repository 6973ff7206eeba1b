import type { Origin } from '../audit/origin.ts';
import type { ApiEvent } from '../http/api-event.ts';

/**
 * The client that sent a request. The audit log records it, and the identity provider uses it for threat protection.
 */
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
