import { EPOCH_MS, EPOCH_PARTITIONS, epochOf } from '../keys/epoch.ts';
import type { LimiterStore } from '../keys/limiter-store.ts';
import { orphanedEvent } from './event.ts';
import type { UsageStore } from './usage-store.ts';

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
  complete: boolean;
}

/**
 * Settles what dead functions left in flight, so that events = admitted requests, always. A request that has its event is
 * released by it; one without gets an `orphaned` event at cost 0. Safe beside late settlements and beside itself.
 */
export const sweep = async (deps: Sweep): Promise<SweepReport> => {
  const { limiters, now } = deps;
  const report: SweepReport = { limiters: 0, released: 0, orphaned: 0, complete: false };
  const current = epochOf(now());
  const swept = await limiters.sweptEpoch();
  // The youngest epoch of which no request can still be in flight.
  const closed = epochOf(now() - deps.maxFlightMs - EPOCH_MS);
  const first = Math.min(swept === undefined ? closed : swept + 1, closed);
  const failures: unknown[] = [];
  const last = Math.min(current, first + MAX_EPOCHS_A_RUN);
  for (let epoch = first; epoch <= last; epoch++) {
    for (let partition = 0; partition < EPOCH_PARTITIONS; partition++) {
      for await (const id of limiters.listByEpoch(epoch, partition)) {
        if (!deps.hasTime()) return report;
        // One limiter that cannot be swept must not keep the others in flight.
        await sweepLimiter(deps, id, report).catch((error: unknown) => failures.push(error));
      }
    }
    if (epoch <= closed && epoch !== swept && failures.length === 0) await limiters.markSwept(epoch);
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} limiters could not be swept.`);
  return { ...report, complete: last === current };
};

const sweepLimiter = async ({ limiters, usage, now, maxFlightMs, onOrphan }: Sweep, id: string, report: SweepReport): Promise<void> => {
  const item = await limiters.get(id);
  if (!item) return;
  report.limiters++;
  for (const [requestId, entry] of Object.entries(item.fl)) {
    const [admittedAtMs] = entry;
    if (now() - admittedAtMs <= maxFlightMs) continue;
    const facts = { requestId, keyId: id, orgId: item.org, admittedAtMs, nowMs: now() };
    const event = await usage.putIfAbsent(orphanedEvent(facts));
    await limiters.release(id, requestId, entry, event.prompt_tokens + event.completion_tokens, now(), item);
    if (event.outcome === 'orphaned') {
      report.orphaned++;
      onOrphan({ requestId, keyId: id });
    } else report.released++;
  }
};
