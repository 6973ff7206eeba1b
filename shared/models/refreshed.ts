import { logError } from '../logging/log.ts';

// Every environment sees a change within this time.
const FRESH_MS = 30_000;
// While the table does not answer, what was read last is used for this long.
const STALE_MS = 10 * 60_000;

// The wait after a failed refresh before the next one.
const RETRY_MS = 5_000;

/**
 * Something stored as one environment caches it, at most 30 s old. Concurrent callers share one refresh.
 * @param event the log line if it can't be refreshed
 */
export const createRefreshed = <Stored>(
  load: () => Promise<Stored>,
  now: () => number,
  event: string,
): (() => Stored | Promise<Stored>) => {
  let seen: { stored: Stored; atMs: number } | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<Stored> | undefined;

  /** A clock can go back, and then nothing is as old as it seems. */
  const isWithin = (ms: number, atMs: number): boolean => Math.abs(now() - atMs) <= ms;

  const refresh = async (): Promise<Stored> => {
    try {
      const stored = await load();
      seen = { stored, atMs: now() };
      return stored;
    } catch (error) {
      if (!seen || !isWithin(STALE_MS, seen.atMs)) throw error;
      logError(event, error, { age_ms: now() - seen.atMs });
      failedAtMs = now();
      return seen.stored;
    } finally {
      refreshing = undefined;
    }
  };

  return () => {
    if (seen && (isWithin(FRESH_MS - 1, seen.atMs) || isWithin(RETRY_MS - 1, failedAtMs))) return seen.stored;
    refreshing ??= refresh();
    return refreshing;
  };
};
