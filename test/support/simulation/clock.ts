import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/**
 * A clock that jumps from one moment at which something happens to the next, so that simulated time costs no real time.
 * While it runs, the waits of the code (`setTimeout` of `node:timers/promises`) are waits of this clock. Nothing else
 * may wait for anything but the clock.
 */
export const createSimulatedClock = (startMs: number) => {
  let nowMs = startMs;
  // By millisecond, in the order in which they began to wait.
  const waiting = new Map<number, (() => void)[]>();
  let furthestMs = startMs;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const atMs = nowMs + Math.max(1, Math.round(ms));
      const others = waiting.get(atMs);
      if (others) others.push(resolve);
      else waiting.set(atMs, [resolve]);
      furthestMs = Math.max(furthestMs, atMs);
    });

  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

  return {
    /** Milliseconds since the epoch. */
    now: (): number => nowMs,
    wait,

    /** Runs until nobody waits any more. */
    run: async (): Promise<void> => {
      const real = timers.setTimeout;
      timers.setTimeout = (async (ms: number, value: unknown) => {
        await wait(ms);
        return value;
      }) as typeof timers.setTimeout;
      syncBuiltinESMExports();
      try {
        for (await turn(); nowMs < furthestMs; ) {
          nowMs++;
          const due = waiting.get(nowMs);
          if (!due) continue;
          waiting.delete(nowMs);
          for (const resolve of due) resolve();
          // All that can go on does, until it waits for the clock again.
          await turn();
        }
      } finally {
        timers.setTimeout = real;
        syncBuiltinESMExports();
      }
    },
  };
};

export type SimulatedClock = ReturnType<typeof createSimulatedClock>;
