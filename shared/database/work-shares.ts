import { randomUUID } from 'node:crypto';
import { logError } from '../logging/log.ts';
import type { RecordKey, RecordTable } from './record-table.ts';

class PlaceTaken extends Error {}

export interface WorkShareOptions {
  /** The beginning of the records of an organization's places. */
  record: string;
  /** The most parallel work of one organization. */
  atOnce: number;
  /** Longer than the work can take. After that, its function has crashed, and the place is free again. */
  leaseMs: number;
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/**
 * Limits the parallel work for one organization, in all environments of a function together, so that slow work for one
 * organization doesn't delay others. Each has a fixed number of places in a table, which are taken with conditional
 * writes.
 */
export const createWorkShares = (table: RecordTable, { record, atOnce, leaseMs, now, random }: WorkShareOptions) => {
  const take = async (organization: string, claim: string): Promise<RecordKey | undefined> => {
    const nowMs = now();
    const first = Math.floor(random() * atOnce);
    for (let tried = 0; tried < atOnce; tried++) {
      const recordKey: RecordKey = { account: organization, record: `${record}#${(first + tried) % atOnce}` };
      try {
        await table.claim(recordKey, { claim, nowMs, olderThanMs: nowMs - leaseMs }, () => new PlaceTaken());
        return recordKey;
      } catch (error) {
        if (!(error instanceof PlaceTaken)) throw error;
      }
    }
    return undefined;
  };
  // A failure must not hide the work's own result, and the place is free again after the lease.
  const release = (recordKey: RecordKey, claim: string): Promise<void> =>
    table.unclaim(recordKey, claim).catch((error: unknown) => logError('place_not_released', error, { ...recordKey }));

  return {
    /** Does work for an organization, unless all its places are taken. @returns true if the work was done */
    use: async (organization: string, work: () => Promise<void>): Promise<boolean> => {
      const claim = randomUUID();
      const recordKey = await take(organization, claim);
      if (!recordKey) return false;
      try {
        await work();
      } finally {
        await release(recordKey, claim);
      }
      return true;
    },
  };
};

export type WorkShares = ReturnType<typeof createWorkShares>;
