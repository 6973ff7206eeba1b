import { isKeyItem, isOrganizationLimited, type KeyItem } from '../../shared/admission/item/key-item.ts';
import { entryOf } from '../../shared/admission/item/limiter-item.ts';
import { usedBy } from '../../shared/admission/plans/reservation-end.ts';
import type { LimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import { endReservations, readAllShards, reservationsOf } from '../../shared/admission/stores/reservation.ts';
import type { Database } from '../../shared/database/database.ts';
import { transact } from '../../shared/database/transaction.ts';
import type { QueuedSettlement } from '../../shared/usage/settlement-queue.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import { lostEntry, toChargeLate } from './late-charge.ts';

export interface Settling {
  database: Database;
  limiters: LimiterStore;
  usage: UsageStore;
  now: () => number;
}

/**
 * The result of a queued settlement. `settled_before`: by its function, by another delivery, or by a later attempt of
 * the request.
 */
export type Settled = 'settled' | 'settled_before';

// A retried admission is a few milliseconds later than the item's last use says.
const RETRIED_MS = 1_000;

// The item would have been used later, had it admitted the request: it is from an older backup.
const isRestored = ({ last_used = 0 }: KeyItem, admittedAtMs: number): boolean => last_used + RETRIED_MS < admittedAtMs;

// True if a later attempt of the request has its event, or can still get it.
const isLeftToAnother = async ({ limiters }: Settling, key: KeyItem, { event }: QueuedSettlement): Promise<boolean> => {
  const { request_id, key_id, admitted_at, cost_nanos } = event;
  const shards = await readAllShards(limiters, key_id);
  if (shards.some((shard) => entryOf(shard, request_id))) return true;
  // The event of a failed attempt would make a repetition free that is about to be admitted under the same id.
  return cost_nanos === 0n && !isRestored(key, admitted_at);
};

// Charges a request without an event whose reservations were lost by a restore, or undone for a repetition that was
// then rejected. `rebuild` counts it for its end user.
const chargeLost = async (deps: Settling, key: KeyItem, queued: QueuedSettlement): Promise<Settled> => {
  const { database, limiters, usage, now } = deps;
  const { event, shards } = queued;
  const { request_id: requestId, key_id: keyId, org_id: org, project_id: project, admitted_at: admittedAtMs } = event;
  if ((await isLeftToAnother(deps, key, queued)) || (await usage.get(keyId, requestId, shards))) return 'settled_before';
  const owners = [...(project === undefined ? [] : [project]), ...(isOrganizationLimited(key) ? [org] : [])];
  const charged = event.cost_nanos === 0n ? [] : [key, ...(await limiters.getMany(owners))];
  const charges = charged.map(({ id: limiterId }) => {
    const entry = lostEntry(admittedAtMs, event.is_prepaid === true && limiterId === org);
    return toChargeLate(limiters.toEnd({ requestId, nowMs: now(), limiterId, entry, used: usedBy(event, admittedAtMs) }));
  });
  await transact(database, [usage.toPut(event, shards), ...charges]);
  return 'settled';
};

/**
 * Settles a request from its message, as its function would have. Can be repeated, and runs concurrently with the
 * function, the sweep and a request that takes over from this one. The event and the releases are one transaction, so
 * the request is charged if and only if it has the event.
 * @throws Error if it must be delivered again, for instance because another settlement came first
 */
export const settleQueued = async (deps: Settling, queued: QueuedSettlement): Promise<Settled> => {
  const { database, limiters, usage, now } = deps;
  const { event, limiterId, shards } = queued;
  const { request_id: requestId, key_id: keyId, admitted_at: admittedAtMs } = event;
  const item = await limiters.get(limiterId);
  if (!item || !isKeyItem(item)) {
    if (event.outcome === 'orphaned') return 'settled_before';
    throw new Error(`The limiter ${limiterId} of ${requestId} is missing. Rebuild it with 'npm run admin -- rebuild'.`);
  }
  const entry = entryOf(item, requestId);
  if (!entry && event.outcome !== 'orphaned') return chargeLost(deps, item, queued);
  // The key's entry is released last. An entry of another attempt is still in use.
  if (entry?.admittedAtMs !== admittedAtMs) return 'settled_before';
  const { reservations, isComplete } = await reservationsOf(item, requestId, entry, (ownerId) => readAllShards(limiters, ownerId));
  const ending = { requestId, nowMs: now() };
  const stored = await usage.get(keyId, requestId, shards);
  if (stored) {
    await endReservations(limiters, reservations, { ...ending, used: usedBy(stored, admittedAtMs) });
    return 'settled_before';
  }
  if (!isComplete) throw new Error(`Request ${requestId} is being rolled back by another worker.`);
  const used = usedBy(event, admittedAtMs);
  const ends = reservations.map(({ limiterId: id, item: known, entry: own }) =>
    limiters.toEnd({ ...ending, limiterId: id, entry: own, known, used }),
  );
  await transact(database, [usage.toPut(event, shards), ...ends]);
  return 'settled';
};
