import { DAY_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { can, seesOnlyOwn } from '../access/actor.ts';
import { MAX_KEYS } from '../api-keys/api-key-store.ts';
import type { OrganizationReads } from './summary-reads.ts';
import type { ApiKeysSection } from './summary-resource.ts';

const SOON_MS = 7 * DAY_MS;

/** Counts the active keys that the actor can see. */
export const apiKeysSection = async ({ actor, keyCounts, keys }: OrganizationReads): Promise<ApiKeysSection> => {
  const [{ keys: read, hasMore }, counts] = await Promise.all([keys(), keyCounts()]);
  const { nowMs } = actor.origin;
  // Keys of other purposes end within an hour, and count in no number.
  const expiring = read.filter(({ purpose, status, expires_at }) => {
    const atMs = (expires_at ?? Number.POSITIVE_INFINITY) * SECOND_MS;
    return purpose === 'standard' && status === 'active' && atMs > nowMs && atMs <= nowMs + SOON_MS;
  });
  const left = MAX_KEYS - counts.open;
  return {
    open: seesOnlyOwn(actor) ? counts.openOfUser : counts.open,
    expiring_soon: hasMore ? null : expiring.length,
    left: Math.max(0, can(actor, 'keys:limit') ? left : Math.min(left, actor.maxApiKeys - counts.openOfUser)),
  };
};
