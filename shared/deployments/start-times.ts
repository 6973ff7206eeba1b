import { HOUR_MS, MINUTE_MS, SECOND_MS, unixSeconds } from '../time/units.ts';
import type { Start } from './deployment.ts';

/** The expected duration of a start, in seconds. */
export interface StartTime {
  p50: number;
  p90: number;
}

// For a deployment without earlier starts: a 0.6 B model on one GPU was measured at 9 to 10 minutes.
const DEFAULT_START: StartTime = { p50: 600, p90: 1_200 };

// An instance has to boot, and to pull an image of several gigabytes.
const FASTEST_DEFAULT_START_SECONDS = 120;

// The nearest rank.
const percentile = (sorted: readonly number[], p: number): number => sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? 0;

// In ascending order: see `predictStart`.
const similarStartSeconds = (starts: readonly Start[], ofType: readonly number[]): number[] => {
  const wakes = starts.filter(({ kind }) => kind === 'wake').map(({ seconds }) => seconds);
  const own = wakes.length > 0 ? wakes : starts.map(({ seconds }) => seconds);
  return (own.length > 0 ? own : [...ofType]).sort((a, b) => a - b);
};

/**
 * Predicts how long a wake takes: from the deployment's own wakes; else from its own creation, which does the same
 * and more; else from other wakes on its instance type; else from experience.
 * @param ofType seconds of the last starts of other deployments on its instance type
 */
export const predictStart = (starts: readonly Start[], ofType: readonly number[]): StartTime => {
  const known = similarStartSeconds(starts, ofType);
  return known.length === 0 ? DEFAULT_START : { p50: percentile(known, 0.5), p90: percentile(known, 0.9) };
};

/** The seconds of the fastest start that `predictStart` uses; without any, the least that a start is known to take. */
export const fastestStart = (starts: readonly Start[], ofType: readonly number[]): number =>
  similarStartSeconds(starts, ofType)[0] ?? FASTEST_DEFAULT_START_SECONDS;

/** A start that takes longer begins too late: without a bound, one bad start would cost as much as a short window. */
export const MAX_LEAD_MS = 2 * HOUR_MS;
// Passes of the reconciler are at most a minute apart.
const PASS_INTERVAL_MS = MINUTE_MS;

/** How long before a window of its schedule a deployment starts, in ms. */
export const windowLeadMs = ({ p90 }: Pick<StartTime, 'p90'>): number => Math.min(MAX_LEAD_MS, p90 * SECOND_MS + PASS_INTERVAL_MS);

// Callers of a deployment that is late try again after this time at the earliest.
const LATE_SECONDS = 15;

/**
 * When a wake is expected to end, in ms: after the median; if that has passed, after the 90th percentile; then again
 * and again a little later.
 */
export const expectedEnd = (startedAtMs: number, { p50, p90 }: StartTime, nowMs: number): number => {
  const ends = [p50, p90].map((seconds) => startedAtMs + seconds * SECOND_MS);
  return ends.find((end) => end > nowMs) ?? nowMs + LATE_SECONDS * SECOND_MS;
};

/** When a deployment began to start, and when it is expected to be ready. */
export interface PredictedStart extends StartTime {
  startedAtMs: number;
  expectedAtMs: number;
}

/**
 * A predicted start on the wire: Unix times and durations in seconds. The end is rounded up, so that nobody tries
 * again too early.
 */
export const wakeOf = ({ startedAtMs, expectedAtMs, p50, p90 }: PredictedStart) => ({
  started_at: unixSeconds(startedAtMs),
  expected_at: Math.ceil(expectedAtMs / SECOND_MS),
  p50_seconds: Math.ceil(p50),
  p90_seconds: Math.ceil(p90),
});
