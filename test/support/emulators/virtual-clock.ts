import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from '../../../shared/database/database.ts';

interface Timer {
  atMs: number;
  fire: () => void;
}

// After so many turns of the event loop without a call in progress, everything that could go on has.
const QUIET_TURNS = 8;

/**
 * A clock that stands still until a test moves it, and knows when the work that it has set off has come to rest:
 * calls of databases that were wrapped with `watch` are over, and everyone else waits for the clock.
 */
export const createVirtualClock = (startMs: number) => {
  let nowMs = startMs;
  let calls = 0;
  const timers = new Set<Timer>();

  const rest = async (): Promise<void> => {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = calls === 0 ? quiet + 1 : 0) await turn();
  };

  return {
    now: () => nowMs,

    /** Resolves when the clock has moved so far; rejects when the signal is aborted. */
    wait: (ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const timer: Timer = {
          atMs: nowMs + ms,
          fire: () => {
            signal?.removeEventListener('abort', abort);
            timers.delete(timer);
            resolve();
          },
        };
        const abort = (): void => {
          timers.delete(timer);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', abort, { once: true });
        timers.add(timer);
      }),

    /** The database, whose calls the clock waits for. */
    watch: (database: Database): Database =>
      new Proxy(database, {
        get: (target, name: keyof Database) =>
          typeof target[name] !== 'function'
            ? target[name]
            : async (input: never) => {
                calls++;
                try {
                  return await target[name](input);
                } finally {
                  calls--;
                }
              },
      }),

    rest,

    /** Moves the clock, in steps, and waits each time until everything is at rest. */
    advance: async (ms: number, stepMs = 250): Promise<void> => {
      await rest();
      for (const endMs = nowMs + ms; nowMs < endMs; ) {
        nowMs = Math.min(nowMs + stepMs, endMs);
        for (const timer of [...timers].sort((one, other) => one.atMs - other.atMs)) if (timer.atMs <= nowMs) timer.fire();
        await rest();
      }
    },

    /** How many wait for the clock. */
    waiting: () => timers.size,
  };
};

export type VirtualClock = ReturnType<typeof createVirtualClock>;
