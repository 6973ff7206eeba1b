import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from '../../../shared/database/database.ts';

interface Timer {
  atMs: number;
  fire: () => void;
}

/** Time that a test moves. */
export interface MovedTime {
  /** Milliseconds, also fractions. */
  now: () => number;
  advanceTo: (ms: number) => void;
}

/**
 * Lets work that waits for a time go on when a test moves that time. The time stands still while a database that it
 * watches is called.
 */
export const createWorkClock = (time: MovedTime) => {
  let calls = 0;
  let noCalls: (() => void)[] = [];
  const timers = new Set<Timer>();

  const settle = async (): Promise<void> => {
    do {
      if (calls > 0) await new Promise<void>((resolve) => noCalls.push(resolve));
      await turn();
    } while (calls > 0);
  };
  const ended = (): void => {
    calls--;
    if (calls > 0) return;
    for (const resolve of noCalls) resolve();
    noCalls = [];
  };

  return {
    now: () => Math.floor(time.now()),
    exact: time.now,
    settle,

    /** Moves the time, and lets the work go on that waits for it. */
    moveTo: async (ms: number): Promise<void> => {
      for (;;) {
        await settle();
        const next = [...timers].filter(({ atMs }) => atMs <= ms).sort((one, other) => one.atMs - other.atMs)[0];
        if (!next) break;
        if (next.atMs > time.now()) time.advanceTo(next.atMs);
        timers.delete(next);
        next.fire();
      }
      if (ms > time.now()) time.advanceTo(ms);
    },

    /** Resolves when so much time has passed, or rejects when the signal is aborted. */
    wait: (ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const abort = (): void => {
          timers.delete(timer);
          reject(signal.reason);
        };
        const timer: Timer = {
          atMs: time.now() + ms,
          fire: () => {
            signal.removeEventListener('abort', abort);
            resolve();
          },
        };
        signal.addEventListener('abort', abort, { once: true });
        timers.add(timer);
      }),

    /** The database, whose calls the time stands still for. */
    watch: (database: Database): Database =>
      new Proxy(database, {
        get: (target, name: keyof Database) => async (input: never) => {
          calls++;
          try {
            return await target[name](input);
          } finally {
            ended();
          }
        },
      }),
  };
};

export type WorkClock = ReturnType<typeof createWorkClock>;
