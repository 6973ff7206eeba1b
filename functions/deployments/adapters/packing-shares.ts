import type { RecordTable } from '../../../shared/database/record-table.ts';
import { createWorkShares, type WorkShareOptions, type WorkShares } from '../../../shared/database/work-shares.ts';

/**
 * The adapters of one organization that are packed at the same time: half of the passes that the queue runs at once. A
 * pass that packs a large one lasts forty times as long as another.
 */
export const MAX_PACKED_AT_ONCE = 3;
// Longer than a pass can take.
const LEASE_MS = 60_000;

/** The shares of organizations in packing, so that many large adapters of one don't delay the passes of others. */
export const createPackingShares = (table: RecordTable, clock: Pick<WorkShareOptions, 'now' | 'random'>): WorkShares =>
  createWorkShares(table, { record: 'packing', atOnce: MAX_PACKED_AT_ONCE, leaseMs: LEASE_MS, ...clock });
