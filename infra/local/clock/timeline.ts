/** Events and their times. Nothing runs by itself: `advance` runs those that are due by the injected clock. */
export interface Timeline {
  /** The time of the event that is running, else of the last `advance`, in milliseconds since the epoch. */
  time(): number;
  /** Schedules an event, relative to `time()`. */
  after(delayMs: number, event: () => void): void;
  /**
   * Runs all due events in order of their times, events of the same time in the order they were scheduled. Each sees
   * its own time.
   */
  advance(): void;
  /** True if no event is scheduled. */
  isEmpty(): boolean;
  /** Drops all scheduled events. */
  clear(): void;
}

interface Scheduled {
  at: number;
  event: () => void;
}

// Far above what a test schedules; exceeded only by events that schedule one another forever.
const MAX_EVENTS_PER_ADVANCE = 1_000_000;

/**
 * @param now the clock, in milliseconds since the epoch; it may jump
 * @param afterEach runs after each event
 */
export const createTimeline = (now: () => number, afterEach: () => void): Timeline => {
  let time = now();
  let scheduled: Scheduled[] = [];
  return {
    time: () => time,
    after(delayMs, event) {
      const at = time + delayMs;
      const later = scheduled.findIndex((other) => other.at > at);
      scheduled.splice(later === -1 ? scheduled.length : later, 0, { at, event });
    },
    advance() {
      const end = now();
      for (let events = 0; scheduled[0] !== undefined && scheduled[0].at <= end; events += 1) {
        if (events === MAX_EVENTS_PER_ADVANCE) throw new Error(`More than ${MAX_EVENTS_PER_ADVANCE} events are due at once`);
        const next = scheduled.shift() as Scheduled;
        time = Math.max(time, next.at);
        next.event();
        afterEach();
      }
      time = Math.max(time, end);
    },
    isEmpty: () => scheduled.length === 0,
    clear() {
      scheduled = [];
    },
  };
};
