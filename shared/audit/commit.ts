import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../database/database.ts';
import { transact, type Write } from '../database/transaction.ts';
import { newTimedId } from '../ids/id.ts';
import type { AuditEntry } from './audit-entry.ts';
import type { AuditStore } from './audit-store.ts';
import type { Origin } from './origin.ts';

export interface AuditDependencies {
  database: Database;
  audit: AuditStore;
}

/** A change for the audit log. */
export interface AuditedChange {
  action: string;
  organization: string | null;
  target: { type: string; id: string };
  reason?: string | null;
  /** The resource before and after the change, as callers see it. The log records the fields that differ. */
  before?: Readonly<Record<string, unknown>>;
  after?: Readonly<Record<string, unknown>>;
  /**
   * Fields with a customer's own words. The log is never deleted, so it records that they changed and not their texts.
   */
  texts?: readonly string[];
}

// Bookkeeping fields, which the log leaves out.
const UNRECORDED = new Set(['version', 'no_content_version', 'no_content_pending', 'updated_at', 'last_used_at', 'last_login_at']);

const WITHHELD = '[not recorded]';

const changesOf = ({ before = {}, after = {}, texts = [] }: AuditedChange): AuditEntry['changes'] => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !UNRECORDED.has(name) && !isDeepStrictEqual(before[name], after[name]));
  const recorded = (name: string, value: unknown = null): unknown => (value !== null && texts.includes(name) ? WITHHELD : value);
  return Object.fromEntries(changed.map((name) => [name, { from: recorded(name, before[name]), to: recorded(name, after[name]) }]));
};

const entryOf = ({ actor, requestId, ipAddress, nowMs }: Origin, change: AuditedChange): AuditEntry => ({
  id: newTimedId('event', nowMs),
  object: 'audit_entry',
  at: nowMs,
  action: change.action,
  actor,
  organization: change.organization,
  target: change.target,
  reason: change.reason ?? null,
  changes: changesOf(change),
  request_id: requestId,
  ip_address: ipAddress,
});

/** The write that records a change, for a transaction that also has other conditions. */
export const toRecord = (audit: AuditStore, origin: Origin, change: AuditedChange): Write => audit.toAppend(entryOf(origin, change));

/**
 * Makes a change and records it in the audit log, in one transaction. If an organization may see only a part of a
 * change, the log has several entries for it.
 * @throws the `refused` error of the first write that fails
 */
export const commit = async (
  { database, audit }: AuditDependencies,
  origin: Origin,
  change: AuditedChange | readonly AuditedChange[],
  writes: readonly Write[],
): Promise<void> => {
  const changes = [change].flat() as AuditedChange[];
  return transact(database, [...writes, ...changes.map((each) => toRecord(audit, origin, each))]);
};
