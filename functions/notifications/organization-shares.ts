import { randomUUID } from 'node:crypto';
import type { RecordKey, RecordTable } from '../../shared/database/record-table.ts';

/** Parallel attempts for one organization: half of those that the queue runs at once. */
export const MAX_AT_ONCE = 4;
/** Longer than an attempt can take. After that, its function has crashed, and the place is free again. */
export const LEASE_MS = 60_000;

class PlaceTaken extends Error {}

const recordKeyOf = (organization: string, number: number): RecordKey => ({ account: organization, record: `sending#${number}` });

export interface ShareDependencies {
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/**
 * Limits the parallel work for one organization, in all environments of the function together, so that slow receivers
 * of one organization don't delay others. Each has a fixed number of places in the table `notifications`, which are
 * taken with conditional writes.
 */
export const createOrganizationShares = (table: RecordTable, { now, random }: ShareDependencies) => {
  const take = async (organization: string, claim: string): Promise<RecordKey | undefined> => {
    const nowMs = now();
    const first = Math.floor(random() * MAX_AT_ONCE);
    for (let tried = 0; tried < MAX_AT_ONCE; tried++) {
      const recordKey = recordKeyOf(organization, (first + tried) % MAX_AT_ONCE);
      try {
        await table.claim(recordKey, { claim, nowMs, olderThanMs: nowMs - LEASE_MS }, () => new PlaceTaken());
        return recordKey;
      } catch (error) {
        if (!(error instanceof PlaceTaken)) throw error;
      }
    }
    return undefined;
  };
  return {
    /** Works for an organization, unless its share is in use. @returns true if the work was done */
    use: async (organization: string, work: () => Promise<void>): Promise<boolean> => {
      const claim = randomUUID();
      const recordKey = await take(organization, claim);
      if (!recordKey) return false;
      try {
        await work();
      } finally {
        await table.unclaim(recordKey, claim);
      }
      return true;
    },
  };
};

export type OrganizationShares = ReturnType<typeof createOrganizationShares>;
