import type { Entry } from '../../shared/admission/entry.ts';
import { EPOCH_MS, EPOCH_PARTITIONS, epochOf } from '../../shared/admission/epoch.ts';
import { isKeyItem, type KeyItem } from '../../shared/admission/key.ts';
import { entriesOf, type LimiterItem } from '../../shared/admission/limiter.ts';
import type { LimiterStore } from '../../shared/admission/limiter-store.ts';
import { keyIdOf, shardId } from '../../shared/admission/shards.ts';
import { orphanedEvent } from '../../shared/usage/event.ts';
import { usedBy } from '../../shared/usage/settle.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';

/** After an outage the sweep catches up, at most this many epochs in one run. */
const MAX_EPOCHS_A_RUN = 200;

export interface Sweep {
  limiters: LimiterStore;
  usage: UsageStore;
  now: () => number;
  /** A request in flight for longer than this has no function any more: the function's timeout and a minute. */
  maxFlightMs: number;
  /** Whether there is time to go on. */
  hasTime: () => boolean;
  /** Told of each request that had died without its event. */
  onOrphan: (orphan: { requestId: string; keyId: string }) => void;
}

export interface SweepReport {
  limiters: number;
  released: number;
  orphaned: number;
  /** Requests that died before they were let in, or that were refused: they never were. */
  undone: number;
  complete: boolean;
}

/**
 * Settles what dead functions left in flight, so that events = admitted requests, always. Safe beside late settlements and beside itself.
 *
 * | a key's entry has | then |
 * |---|---|
 * | its event | both limiters are released by it |
 * | no event, and its organization was to be asked and has no entry | it is undone: the request was never let in |
 * | no event otherwise | an `orphaned` event at cost 0, and both are released |
 *
 * An organization's entry is left to its key's; where that is gone, it came too late to be let go with it and is undone.
 */
export const sweep = async (deps: Sweep): Promise<SweepReport> => {
  const { limiters, now } = deps;
  const report: SweepReport = { limiters: 0, released: 0, orphaned: 0, undone: 0, complete: false };
  const current = epochOf(now());
  const swept = await limiters.sweptEpoch();
  // The youngest epoch of which no request can still be in flight.
  const closed = epochOf(now() - deps.maxFlightMs - EPOCH_MS);
  const first = Math.min(swept === undefined ? closed : swept + 1, closed);
  const failures: unknown[] = [];
  const organizations = new Map<string, Promise<LimiterItem | undefined>>();
  const last = Math.min(closed, first + MAX_EPOCHS_A_RUN);
  // The epochs that are still open are gone through in any case, also while something keeps older ones from being finished.
  for (let epoch = first; epoch <= current; epoch = epoch === last ? closed + 1 : epoch + 1) {
    for (let partition = 0; partition < EPOCH_PARTITIONS; partition++) {
      for await (const id of limiters.listByEpoch(epoch, partition)) {
        if (!deps.hasTime()) return report;
        // One limiter that cannot be swept must not keep the others in flight.
        await sweepLimiter(deps, id, organizations, report).catch((error: unknown) => failures.push(error));
      }
    }
    if (epoch <= closed && epoch !== swept && failures.length === 0) await limiters.markSwept(epoch);
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} limiters could not be swept.`);
  return { ...report, complete: last === closed };
};

type Organizations = Map<string, Promise<LimiterItem | undefined>>;

const sweepLimiter = async (deps: Sweep, id: string, organizations: Organizations, report: SweepReport): Promise<void> => {
  const item = await deps.limiters.get(id);
  if (!item) return;
  report.limiters++;
  if (isKeyItem(item)) await noticeLimits(deps, item, organizations);
  for (const [requestId, entry] of entriesOf(item)) {
    if (deps.now() - entry.admittedAtMs <= deps.maxFlightMs) continue;
    if (isKeyItem(item)) await sweepKeyEntry(deps, item, requestId, entry, report);
    else await sweepOrganizationEntry(deps, item, requestId, entry, report);
  }
};

/** A key that was created while its organization was given limits may not know of them. */
const noticeLimits = async ({ limiters }: Sweep, item: KeyItem, organizations: Organizations): Promise<void> => {
  if (item.lim_o) return;
  const organization = organizations.get(item.org) ?? limiters.get(item.org);
  organizations.set(item.org, organization);
  if (!(await organization)) return;
  // All of them, so that they keep the same version.
  for (let shard = 0; shard < (item.shards ?? 1); shard++)
    await limiters.configure<KeyItem>(shardId(keyIdOf(item.id), shard), { lim_o: true });
};

const sweepKeyEntry = async (
  { limiters, usage, now, onOrphan }: Sweep,
  item: KeyItem,
  requestId: string,
  entry: Entry,
  report: SweepReport,
): Promise<void> => {
  const keyId = keyIdOf(item.id);
  const end = { requestId, nowMs: now() };
  const existing = await usage.get(keyId, requestId, item.shards);
  const organization = entry.link ? await limiters.get(item.org) : undefined;
  const held = organization && entriesOf(organization).find(([id, { link }]) => id === requestId && link === item.id)?.[1];
  if (!existing && entry.link && !held) {
    await limiters.end({ ...end, limiterId: item.id, entry, used: 'undone', known: item });
    report.undone++;
    return;
  }
  const facts = { requestId, keyId, orgId: item.org, admittedAtMs: entry.admittedAtMs, nowMs: now() };
  const event = existing ?? (await usage.putIfAbsent(orphanedEvent(facts), item.shards));
  const used = usedBy(event, entry.admittedAtMs);
  if (held) await limiters.end({ ...end, limiterId: item.org, entry: held, used, known: organization });
  await limiters.end({ ...end, limiterId: item.id, entry, used, known: item });
  if (event.outcome === 'orphaned') {
    report.orphaned++;
    onOrphan({ requestId, keyId });
  } else report.released++;
};

/** The organization is let go before its key: an entry that outlives its key's arrived after it was let go, and nobody has used it. */
const sweepOrganizationEntry = async (
  { limiters, now }: Sweep,
  item: LimiterItem,
  requestId: string,
  entry: Entry,
  report: SweepReport,
): Promise<void> => {
  const key = await limiters.get(String(entry.link));
  // Its key is swept too, and knows more.
  if (key && requestId in key.fl) return;
  await limiters.end({ limiterId: item.id, requestId, entry, used: 'undone', nowMs: now(), known: item });
  report.undone++;
};
