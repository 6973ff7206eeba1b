import { type AuditDependencies, commit } from '../../../../shared/audit/commit.ts';
import type { Origin } from '../../../../shared/audit/origin.ts';
import type { BillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { type EventExport, isRunning } from '../../../../shared/billing/export.ts';
import { AlreadyExported, type ExportStore } from '../../../../shared/billing/export-store.ts';
import { IdempotencyKeyReused } from '../../../../shared/http/idempotency-key.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { OrganizationStatuses } from '../../access/actor.ts';
import type { SignDownload } from '../downloads/download.ts';
import { sendTask } from '../send-task.ts';
import { type Export, exportToWire, type NewExport } from './export-resource.ts';

export interface ExportRouteDependencies extends AuditDependencies {
  organizations: OrganizationStatuses;
  exports: ExportStore;
  billingTasks: BillingTasks;
  signDownload: SignDownload;
}

interface Once {
  key: string;
  fingerprint: string;
}

const newExport = (organization: string, { actor, nowMs }: Origin, wanted: NewExport): EventExport => ({
  id: newTimedId('export', nowMs),
  organization,
  format: wanted.format,
  from_ms: wanted.start_time * SECOND_MS,
  to_ms: wanted.end_time * SECOND_MS,
  api_key_ids: wanted.api_key_ids ?? null,
  models: wanted.models ?? null,
  state: 'pending',
  created_at: nowMs,
  created_by: actor.id,
  completed_at: null,
  error: null,
  upload_id: null,
  parts: [],
  tail: null,
  position: null,
  sums: {},
  failures: 0,
  restarts: 0,
  rows: 0,
  progress: 0,
  bytes: null,
  sha256: null,
  version: 1,
});

/**
 * Creates an export, and queues the task that makes its file. With an idempotency key that was used before, returns the
 * earlier export.
 * @throws 404 for an unknown organization; 409 if too many exports are running; 422 if the key was used for another
 * request; 503
 */
export const createExport = async (
  deps: ExportRouteDependencies,
  origin: Origin,
  organization: string,
  wanted: NewExport,
  once?: Once,
): Promise<Export> => {
  await deps.organizations.get(organization);
  const send = async (stored: EventExport): Promise<Export> => {
    // Also for a repeated request, since the first one may have crashed before it sent the task.
    if (isRunning(stored)) await sendTask(deps, { task: 'export', organization, export: stored.id }, origin.nowMs);
    return exportToWire(stored, null);
  };
  const earlier = async (): Promise<EventExport | undefined> => {
    const existing = once && (await deps.exports.getOnce(organization, once.key));
    if (!existing) return undefined;
    if (existing.fingerprint !== once?.fingerprint) throw new IdempotencyKeyReused();
    return deps.exports.get(organization, existing.id);
  };
  const before = await earlier();
  if (before) return send(before);
  const created = newExport(organization, origin, wanted);
  const change = { action: 'export.created', organization, target: { type: 'export', id: created.id }, after: { ...wanted } };
  try {
    await commit(deps, origin, change, deps.exports.toCreate(created, once));
  } catch (error) {
    const stored = error instanceof AlreadyExported ? await earlier() : undefined;
    if (!stored) throw error;
    return send(stored);
  }
  return send(created);
};
