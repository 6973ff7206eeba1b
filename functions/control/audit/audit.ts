import { isDeepStrictEqual } from 'node:util';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Who does something, and where it comes from. */
export interface Origin {
  actor: AuditEntry['actor'];
  requestId: string | null;
  ipAddress: string | null;
  nowMs: number;
}

/** What is done. */
export interface Deed {
  action: string;
  organization: string | null;
  target: { type: string; id: string };
  reason?: string | null;
  /** The resource before and after, as callers see it: their differences are noted. */
  before?: Readonly<Record<string, unknown>>;
  after?: Readonly<Record<string, unknown>>;
}

/** Fields that change with every change, and say nothing. */
const UNTOLD = new Set(['version', 'updated_at', 'last_used_at', 'last_login_at']);

const changesOf = (before: Deed['before'] = {}, after: Deed['after'] = {}): AuditEntry['changes'] => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !UNTOLD.has(name) && !isDeepStrictEqual(before[name], after[name]));
  return Object.fromEntries(changed.map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]));
};

/** The entry of the audit log that tells of a deed. */
export const auditEntry = ({ actor, requestId, ipAddress, nowMs }: Origin, deed: Deed): AuditEntry => ({
  id: newTimedId('event', nowMs),
  object: 'audit_entry',
  at: nowMs,
  action: deed.action,
  actor,
  organization: deed.organization,
  target: deed.target,
  reason: deed.reason ?? null,
  changes: changesOf(deed.before, deed.after),
  request_id: requestId,
  ip_address: ipAddress,
});
