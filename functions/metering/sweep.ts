import { isKeyItem, isOrganizationLimited, type KeyItem, projectOf } from '../../shared/admission/item/key-item.ts';
import { entriesOf, entryOf, type LimiterItem, shardsOf } from '../../shared/admission/item/limiter-item.ts';
import type { Entry } from '../../shared/admission/item/reservation-entry.ts';
import { ownerIdOf, shardIds } from '../../shared/admission/item/shards.ts';
import { EPOCH_MS, EPOCH_PARTITIONS, epochOf } from '../../shared/admission/item/sweep-epoch.ts';
import { usedBy } from '../../shared/admission/plans/reservation-end.ts';
import type { LimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import { endReservations, readAllShards, reservationsOf } from '../../shared/admission/stores/reservation.ts';
import type { Spread } from '../../shared/admission/stores/spread-configuration.ts';
import { logError } from '../../shared/logging/log.ts';
import { orphanedEvent } from '../../shared/usage/event.ts';
import type { SettlementQueue } from '../../shared/usage/settlement-queue.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';

// After an outage, the sweep catches up by at most this many epochs per run.
const MAX_EPOCHS_PER_RUN = 200;

interface Sweep {
  limiters: LimiterStore & Spread;
  usage: UsageStore;
  now: () => number;
  /** If a request is in flight for longer than this, its function has crashed: the function's timeout plus a minute. */
  maxInFlightMs: number;
  /** Returns false if the run must end. */
  hasTime: () => boolean;
  /** Settles requests without an event, each after the settlement that its function may have queued. */
  settlements: SettlementQueue;
}

export interface SweepReport {
  limiters: number;
  released: number;
  /** Requests without an event: their functions crashed, or queued their settlements. */
  orphaned: number;
  /** Requests whose function crashed before they were admitted or while they were rejected. */
  undone: number;
  complete: boolean;
  /** The age of the oldest epoch that could be swept but isn't yet; 0 if nothing is left to do. */
  behind_ms: number;
}

/**
 * Settles requests that crashed functions left in flight, so that every admitted request has exactly one event. Safe
 * to run concurrently with late settlements and other sweeps.
 *
 * | a key's entry has | then | |---|---| | an event | all its limiters are released based on it | | no event, and one
 * of the limiters that it names lacks its entry | it is undone: the request was never admitted | | no event otherwise
 * | an `orphaned` event at cost 0 is queued, to be written unless the function's own settlement is queued before it |
 *
 * The key's entry decides about those of its project and its organization. If the key's entry is gone, the others were
 * written too late and are undone; those of an end user, by the user's next rejected request.
 */
export const sweep = async (deps: Sweep): Promise<SweepReport> => {
  const { limiters, now } = deps;
  const report: SweepReport = { limiters: 0, released: 0, orphaned: 0, undone: 0, complete: false, behind_ms: 0 };
  const current = epochOf(now());
  const swept = await limiters.sweptEpoch();
  // The latest epoch whose requests can no longer be in flight.
  const closed = epochOf(now() - deps.maxInFlightMs - EPOCH_MS);
  const first = Math.min(swept === undefined ? closed : swept + 1, closed);
  let finished = swept ?? closed - 1;
  const reportNow = (): SweepReport => ({ ...report, behind_ms: Math.max(0, closed - finished) * EPOCH_MS });
  const failures: unknown[] = [];
  const owners = readOwners(limiters);
  const last = Math.min(closed, first + MAX_EPOCHS_PER_RUN);
  // Open epochs are always swept, even while a failure keeps older ones from being finished.
  for (let epoch = first; epoch <= current; epoch = epoch === last ? closed + 1 : epoch + 1) {
    for (let partition = 0; partition < EPOCH_PARTITIONS; partition++) {
      for await (const id of limiters.listByEpoch(epoch, partition)) {
        if (!deps.hasTime()) return reportNow();
        // A limiter that cannot be swept must not block the others.
        await sweepLimiter(deps, id, owners, report).catch((error: unknown) => {
          logError('limiter_not_swept', error, { limiter: id });
          failures.push(error);
        });
      }
    }
    // An epoch is finished when a run finds nothing in it that must be settled.
    const isFinished = failures.length === 0 && report.orphaned === 0;
    if (epoch <= closed && isFinished) {
      if (epoch !== swept) await limiters.markSwept(epoch);
      finished = epoch;
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} limiters could not be swept.`);
  return { ...reportNow(), complete: last === closed };
};

// The shards of this many organizations, projects and end users are kept during a run.
const MAX_OWNERS = 20;

// Once per run, while not too many others are read.
const readOwners = (limiters: LimiterStore) => {
  const reads = new Map<string, Promise<readonly LimiterItem[]>>();
  return (ownerId: string): Promise<readonly LimiterItem[]> => {
    const read = reads.get(ownerId) ?? readAllShards(limiters, ownerId);
    reads.set(ownerId, read);
    if (reads.size > MAX_OWNERS) for (const oldest of [...reads.keys()].slice(0, 1)) reads.delete(oldest);
    return read;
  };
};

type Owners = ReturnType<typeof readOwners>;

const sweepLimiter = async (deps: Sweep, id: string, owners: Owners, report: SweepReport): Promise<void> => {
  const item = await deps.limiters.get(id);
  if (!item) return;
  report.limiters++;
  if (item.pending) await deps.limiters.spread(item.id, deps.now());
  if (isKeyItem(item)) await markLimited(deps, item, owners);
  for (const [requestId, entry] of entriesOf(item)) {
    if (deps.now() - entry.admittedAtMs <= deps.maxInFlightMs) continue;
    if (isKeyItem(item)) await sweepKeyEntry(deps, item, requestId, entry, owners, report);
    else await sweepLinkedEntry(deps, item, requestId, entry, report);
  }
};

// A key that was created while its organization received limits can be unmarked. All its shards are marked, so that
// they keep the same version.
const markLimited = async ({ limiters }: Sweep, item: KeyItem, owners: Owners): Promise<void> => {
  if (isOrganizationLimited(item)) return;
  if ((await owners(item.org)).length === 0) return;
  for (const id of shardIds(ownerIdOf(item.id), shardsOf(item))) await limiters.markOrganizationLimited(id);
};

const sweepKeyEntry = async (
  { limiters, usage, now, settlements }: Sweep,
  item: KeyItem,
  requestId: string,
  entry: Entry,
  owners: Owners,
  report: SweepReport,
): Promise<void> => {
  const keyId = ownerIdOf(item.id);
  const ending = { requestId, nowMs: now() };
  const existing = await usage.get(keyId, requestId, item.shards);
  const { reservations, isComplete } = await reservationsOf(item, requestId, entry, owners);
  if (!existing && !isComplete) {
    await endReservations(limiters, reservations, { ...ending, used: 'undone' });
    report.undone++;
    return;
  }
  if (!existing) {
    // The key can be in another project by now.
    const projectId = entry.project ?? projectOf(item);
    const facts = { requestId, keyId, orgId: item.org, projectId, admittedAtMs: entry.admittedAtMs, nowMs: now() };
    await settlements.send({ event: orphanedEvent(facts), limiterId: item.id, shards: shardsOf(item) });
    report.orphaned++;
    return;
  }
  await endReservations(limiters, reservations, { ...ending, used: usedBy(existing, entry.admittedAtMs) });
  report.released++;
};

// The entry of a project or an organization ends before its key's entry. If it outlives that, it was written late and
// the request never used it.
const sweepLinkedEntry = async (
  { limiters, now }: Sweep,
  item: LimiterItem,
  requestId: string,
  entry: Entry,
  report: SweepReport,
): Promise<void> => {
  const key = await limiters.get(String(entry.link));
  // The sweep of the key decides.
  if (key && entryOf(key, requestId)) return;
  await limiters.end({ limiterId: item.id, requestId, entry, used: 'undone', nowMs: now(), known: item });
  report.undone++;
};
