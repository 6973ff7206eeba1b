import type { RecordTable } from '../../shared/database/record-table.ts';
import { createWorkShares, type WorkShareOptions, type WorkShares } from '../../shared/database/work-shares.ts';

/** Parallel attempts for one organization: half of those that the queue runs at once. */
export const MAX_AT_ONCE = 4;
/** Longer than an attempt can take. After that, its function has crashed, and the place is free again. */
export const LEASE_MS = 60_000;

/** The shares of organizations in deliveries, so that slow receivers of one organization don't delay others. */
export const createOrganizationShares = (table: RecordTable, clock: Pick<WorkShareOptions, 'now' | 'random'>): WorkShares =>
  createWorkShares(table, { record: 'sending', atOnce: MAX_AT_ONCE, leaseMs: LEASE_MS, ...clock });
