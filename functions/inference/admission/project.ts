import type { KeyItem } from '../../../shared/admission/item/key-item.ts';
import { countsMoney, type LimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import type { Limiters } from './reserve.ts';

// A project's first budget applies after this time at the latest; later changes apply at once.
const UNLIMITED_MS = 30_000;

/**
 * True if a project has a limiter: from its first budget on, which counts even while there is none. Costs a read in
 * 30 s per environment if it never had a budget, and usually none otherwise.
 */
export const isProjectLimited = async ({ cache, store, now }: Limiters, projectId: string): Promise<boolean> => {
  const seen = cache.get(projectId);
  if (seen?.item) return true;
  // A clock can go back, and then nothing is as old as it seems.
  if (seen && Math.abs(now() - seen.seenAtMs) < UNLIMITED_MS) return false;
  const item = await cache.share(`project ${projectId}`, async () => {
    const read = await store.get(projectId);
    cache.see(projectId, read, now());
    return read;
  });
  return item !== undefined;
};

/** The project of a key as far as this environment knows it, if it has a budget. */
export const knownProject = ({ cache }: Limiters, { prj }: KeyItem): LimiterItem | undefined => {
  const item = prj === undefined ? undefined : cache.get(prj)?.item;
  return item && countsMoney(item) ? item : undefined;
};

/** The limiter of a project. A missing one is our own bug. */
export const checkProject = (item: LimiterItem | undefined): LimiterItem => {
  if (!item) throw new Error('The request is reserved in a project that has no limiter.');
  return item;
};
