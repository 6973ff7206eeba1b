/** A function that runs again and again. */
export interface Job {
  /** The function's short name. */
  name: string;
  periodMs: number;
  isRunning: boolean;
  /** Its last run; undefined: none has ended yet. */
  last: { tookMs: number; error?: string } | undefined;
}

export interface Schedules {
  jobs(): readonly Job[];
  /**
   * Catches up after the clock was moved: runs each job whose period fits into the time that was skipped, once, one
   * after the other, the most frequent first. A function does all that is due at the run's time, so no run is missed.
   */
  catchUp(skippedMs: number): Promise<void>;
  /** Stops all schedules. */
  close(): void;
}
