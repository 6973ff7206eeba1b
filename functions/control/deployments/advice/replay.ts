import { wholeSecond } from '../../../../shared/gpu-time/intervals.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { type Demand, windowOf } from './demand.ts';
import { type Cycle, type Period, wantedUntilMs } from './history.ts';

/** The known past of a deployment, and its settings then. */
export interface Basis {
  /** The time to replay. What came before it is known, so that it can begin awake. */
  range: Period;
  /** In the order of time. */
  demand: readonly Demand[];
  cycles: readonly Cycle[];
  /** The windows of its schedule, each from when it starts for it. */
  windows: readonly Period[];
  /** Absent: it never slept. */
  idleMs?: number;
  /** The expected time of a start, for a deployment that was never started. */
  startMs: number;
  /** How many requests came in each second of a demand, at a time in ms since the epoch. */
  requestsPerSecond: (atMs: number) => number;
}

/** How fast an instance type is, in comparison with the one that ran. */
export interface Speed {
  /** By how much longer a request is answered, in whole seconds, in ms. */
  serviceMs: number;
  /** How many times as long a start takes. */
  startScale: number;
}

const SAME_SPEED: Speed = { serviceMs: 0, startScale: 1 };

/** The settings to replay with. */
export interface ReplaySettings {
  /** Absent: it never sleeps. */
  idleMs?: number;
  /** The windows of its schedule, each from when it starts for it. */
  windows: readonly Period[];
  /** Absent: as fast as it was. */
  speed?: Speed;
}

/** Requests that would have waited for a start, all for the same time. */
export interface Wait {
  ms: number;
  requests: number;
}

export interface ReplayedTime {
  /** The times in which instances ran, in order and without overlaps. */
  awake: Period[];
  /** Starts that requests waited for. */
  coldStarts: number;
  waits: Wait[];
}

// How a cycle began and ended, as far as its settings don't decide it.
interface Manner {
  /** When it was first wanted. */
  atMs: number;
  /** From then until its instances are metered. */
  leadMs: number;
  /** From then until a copy is ready. */
  startMs: number;
  /** From the end of the idle time, or of a window, until it sleeps. */
  latenessMs: number;
  /** From then until its instances are released. */
  releaseMs: number;
}

interface Manners {
  cycles: Manner[];
  /** How late sleep would have come at least, for each time it was due and a request or a window came first, in ms. */
  lateness: ReadonlyMap<number, number>;
}

// The end of a request is known after about 90 s, and a pass finds an idle deployment within another minute.
const USUAL_LATENESS_MS = 2 * MINUTE_MS;
const LONGEST_LATENESS_MS = 3 * MINUTE_MS;
// SageMaker releases instances without copies after about this time.
const DEFAULT_RELEASE_MS = 12 * MINUTE_MS;
const DEFAULT_LEAD_MS = MINUTE_MS;

const clamp = (ms: number, most: number): number => Math.min(Math.max(ms, 0), most);

// Only cycles count whose instances were released before the next start.
const longestRelease = (cycles: readonly Cycle[]): number => {
  const known = cycles.flatMap(({ asleepMs, toMs }, i) =>
    asleepMs === undefined || cycles[i + 1]?.fromMs === toMs ? [] : [toMs - asleepMs],
  );
  return known.length > 0 ? Math.max(...known) : DEFAULT_RELEASE_MS;
};

interface Event extends Demand {
  /** The end of the window that begins. */
  windowEndMs?: number;
}

const inOrder = (demand: readonly Demand[], windows: readonly Period[]): Event[] =>
  [...demand, ...windows.map(({ fromMs, toMs }): Event => ({ atMs: fromMs, serviceMs: 0, windowEndMs: toMs }))].sort(
    (one, other) => one.atMs - other.atMs,
  );

interface Use {
  lastUseMs: number;
  windowEndMs: number;
}

// Without an idle time, it never sleeps.
const sleepDueMs = ({ lastUseMs, windowEndMs }: Use, idleMs = Number.POSITIVE_INFINITY): number =>
  Math.max(lastUseMs + idleMs, windowEndMs);

// The events until each cycle went to sleep, in one pass over both.
const mannersOf = ({ cycles, demand, windows, idleMs, startMs }: Basis): Manners => {
  const longestReleaseMs = longestRelease(cycles);
  const lateness = new Map<number, number>();
  const events = inOrder(demand, windows);
  let next = 0;
  const manners = cycles.map((cycle, i): Manner => {
    const { fromMs, readyMs, asleepMs, toMs } = cycle;
    let atMs = windowOf(cycle, windows, cycles[i - 1])?.fromMs ?? fromMs;
    const use: Use = { lastUseMs: readyMs, windowEndMs: Number.NEGATIVE_INFINITY };
    for (let event = events[next]; event && event.atMs < wantedUntilMs(cycle); event = events[++next]) {
      const dueMs = sleepDueMs(use, idleMs);
      if (event.atMs >= dueMs) lateness.set(dueMs, clamp(event.atMs - dueMs + SECOND_MS, LONGEST_LATENESS_MS));
      if (event.windowEndMs !== undefined) {
        use.windowEndMs = Math.max(use.windowEndMs, event.windowEndMs);
        continue;
      }
      atMs = Math.min(atMs, event.atMs);
      use.lastUseMs = Math.max(use.lastUseMs, Math.max(event.atMs, readyMs) + event.serviceMs);
    }
    const isReleased = asleepMs !== undefined && cycles[i + 1]?.fromMs !== toMs;
    return {
      atMs,
      leadMs: fromMs - atMs,
      startMs: readyMs - fromMs,
      latenessMs:
        asleepMs === undefined || idleMs === undefined ? USUAL_LATENESS_MS : clamp(asleepMs - sleepDueMs(use, idleMs), LONGEST_LATENESS_MS),
      releaseMs: isReleased ? toMs - asleepMs : longestReleaseMs,
    };
  });
  const byDefault = { atMs: 0, leadMs: DEFAULT_LEAD_MS, startMs, latenessMs: USUAL_LATENESS_MS, releaseMs: longestReleaseMs };
  return { cycles: manners.length > 0 ? manners : [byDefault], lateness };
};

const nearest = ({ cycles }: Manners, atMs: number): Manner =>
  cycles.reduce((best, manner) => (Math.abs(manner.atMs - atMs) < Math.abs(best.atMs - atMs) ? manner : best));

// The first request waits from its arrival; the others came evenly for as long as the demand lasted.
const waitsOf = ({ atMs, serviceMs }: Demand, readyMs: number, requestsPerSecond: number): Wait[] => {
  const waits = [{ ms: readyMs - atMs, requests: 1 }];
  for (let ms = atMs + SECOND_MS; ms < Math.min(readyMs, atMs + serviceMs); ms += SECOND_MS)
    waits.push({ ms: readyMs - ms, requests: requestsPerSecond });
  return waits;
};

interface Awake extends Use {
  manner: Manner;
  fromMs: number;
  readyMs: number;
}

/**
 * Replays what callers wanted, with other settings. Starts take as long as the nearest one that was seen, and instances
 * are released as late as then. Something else that ended a cycle, such as a stop by the owner, ends it here too. With
 * the settings of the time, the result is what was metered.
 */
export const replay = (basis: Basis, { idleMs, windows, speed = SAME_SPEED }: ReplaySettings): ReplayedTime => {
  const { range, cycles, demand, requestsPerSecond } = basis;
  const manners = mannersOf(basis);
  const stops = cycles.flatMap(({ asleepMs, toMs }) => (asleepMs === undefined && toMs < range.toMs ? [toMs] : []));
  const awake: Period[] = [];
  const waits: Wait[] = [];
  let coldStarts = 0;
  let now: Awake | undefined;
  // Instances of the last cycle run until then, unless the next one takes them over.
  let draining: Period | undefined;

  const add = ({ fromMs, toMs }: Period): void => {
    const period = { fromMs: Math.max(fromMs, range.fromMs), toMs: Math.min(toMs, range.toMs) };
    if (period.toMs <= period.fromMs) return;
    const last = awake.at(-1);
    if (last?.toMs === period.fromMs) last.toMs = period.toMs;
    else awake.push(period);
  };

  const drainUntil = (ms: number): void => {
    if (draining) add({ fromMs: draining.fromMs, toMs: Math.min(draining.toMs, ms) });
    draining = undefined;
  };

  const start = (atMs: number): Awake => {
    const manner = nearest(manners, atMs);
    const fromMs = atMs + manner.leadMs;
    drainUntil(fromMs);
    const readyMs = fromMs + wholeSecond(manner.startMs * speed.startScale);
    return { manner, fromMs, readyMs, lastUseMs: readyMs, windowEndMs: Number.NEGATIVE_INFINITY };
  };

  // Ends what sleeps or is stopped until a time.
  const endUntil = (ms: number): void => {
    if (!now) return;
    const { fromMs, manner } = now;
    const dueMs = sleepDueMs(now, idleMs);
    const asleepMs = dueMs + Math.max(manner.latenessMs, manners.lateness.get(dueMs) ?? 0);
    const stopMs = stops.find((each) => each > fromMs) ?? Number.POSITIVE_INFINITY;
    if (Math.min(asleepMs, stopMs) > ms) return;
    now = undefined;
    if (stopMs <= asleepMs) add({ fromMs, toMs: stopMs });
    else draining = { fromMs, toMs: Math.min(asleepMs + manner.releaseMs, stopMs) };
  };

  for (const { atMs, serviceMs: metered, windowEndMs } of inOrder(demand, windows)) {
    if (atMs >= range.toMs) break;
    endUntil(atMs);
    const isCold = now === undefined;
    now ??= start(atMs);
    if (windowEndMs !== undefined) {
      now.windowEndMs = Math.max(now.windowEndMs, windowEndMs);
      continue;
    }
    const { readyMs } = now;
    const serviceMs = metered === 0 ? 0 : Math.max(0, metered + speed.serviceMs);
    now.lastUseMs = Math.max(now.lastUseMs, Math.max(atMs, readyMs) + serviceMs);
    if (atMs < range.fromMs || atMs >= readyMs) continue;
    if (isCold) coldStarts++;
    waits.push(...waitsOf({ atMs, serviceMs }, readyMs, requestsPerSecond(atMs)));
  }
  endUntil(range.toMs);
  drainUntil(range.toMs);
  if (now) add({ fromMs: now.fromMs, toMs: range.toMs });
  return { awake, coldStarts, waits };
};
