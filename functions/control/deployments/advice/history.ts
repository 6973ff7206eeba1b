import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';

/** From one whole second to another, in ms since the epoch; the end is exclusive. */
export interface Period {
  fromMs: number;
  toMs: number;
}

/** A time in which instances of the deployment were metered: from a start until it slept or was stopped. */
export interface Cycle extends Period {
  /** When a copy was ready; the end if none ever was. */
  readyMs: number;
  /** When it went to sleep, so that only its instances were left; absent: it was stopped, failed, or still ran. */
  asleepMs?: number;
}

/** The end of the time in which a cycle was wanted. */
export const wantedUntilMs = ({ asleepMs, toMs }: Pick<Cycle, 'asleepMs' | 'toMs'>): number => asleepMs ?? toMs;

type Phase = Period & Pick<GpuEvent, 'phase'>;

const RANKS: readonly GpuEvent['phase'][] = ['draining', 'starting', 'serving'];

// While instances of several generations run, the phase of the one that is furthest counts.
const phasesOf = (events: readonly GpuEvent[]): Phase[] => {
  const cuts = [...new Set(events.flatMap(({ started_at, ended_at }) => [started_at, ended_at]))].sort((one, other) => one - other);
  const sorted = events.toSorted((one, other) => one.started_at - other.started_at);
  let open: GpuEvent[] = [];
  let next = 0;
  return cuts.flatMap((fromMs, i): Phase[] => {
    const toMs = cuts[i + 1];
    open = open.filter(({ ended_at }) => ended_at > fromMs);
    for (let event = sorted[next]; event && event.started_at <= fromMs; event = sorted[++next])
      if (event.ended_at > fromMs) open.push(event);
    if (toMs === undefined || open.length === 0) return [];
    const rank = Math.max(...open.map(({ phase }) => RANKS.indexOf(phase)));
    return [{ fromMs, toMs, phase: RANKS[rank] as GpuEvent['phase'] }];
  });
};

/**
 * Returns the cycles of a deployment, oldest first. A deployment that is woken before its instances are released begins
 * another one.
 * @param events its GPU time, in any order
 */
export const cyclesOf = (events: readonly GpuEvent[]): Cycle[] => {
  const cycles: Cycle[] = [];
  let last: Cycle | undefined;
  for (const { fromMs, toMs, phase } of phasesOf(events)) {
    const isNext = last === undefined || last.toMs < fromMs || (last.asleepMs !== undefined && phase !== 'draining');
    if (isNext) {
      last = { fromMs, toMs, readyMs: Number.POSITIVE_INFINITY };
      cycles.push(last);
    }
    const cycle = last as Cycle;
    cycle.toMs = toMs;
    if (phase === 'serving') cycle.readyMs = Math.min(cycle.readyMs, fromMs);
    if (phase === 'draining') cycle.asleepMs ??= fromMs;
  }
  return cycles.map(({ asleepMs, ...cycle }) => {
    // A start that failed had no idle time.
    const hasServed = cycle.readyMs <= (asleepMs ?? cycle.toMs);
    if (!hasServed) return { ...cycle, readyMs: cycle.toMs };
    return { ...cycle, ...(asleepMs !== undefined && { asleepMs }) };
  });
};
