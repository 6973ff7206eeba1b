import type { Schedule } from '../assembly/local-app.ts';
import type { Job, Schedules } from './clock/schedules.ts';
import { toEvent } from './event-bus.ts';

interface Scheduling {
  invoke: (functionArn: string, event: unknown) => Promise<unknown>;
  /** The short name of a function. */
  nameOf: (functionArn: string) => string;
  log: (line: string) => void;
  /** Caps the periods of the template. */
  maxPeriodMs?: number | undefined;
}

const scheduledEvent = ({ ruleArn }: Schedule): object =>
  toEvent({ source: 'aws.events', detailType: 'Scheduled Event', resources: [ruleArn], detail: {} });

const createJob = (schedule: Schedule, { invoke, nameOf, log }: Scheduling) => {
  const job: Job = { name: nameOf(schedule.functionArn), periodMs: schedule.periodMs, isRunning: false, last: undefined };
  const invokeOnce = async (): Promise<void> => {
    const startMs = performance.now();
    const took = (): { tookMs: number } => ({ tookMs: Math.round(performance.now() - startMs) });
    try {
      await invoke(schedule.functionArn, schedule.input ?? scheduledEvent(schedule));
      job.last = took();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      log(`schedule ${schedule.ruleArn}: ${text}`);
      job.last = { ...took(), error: text };
    }
  };
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    job.isRunning = true;
    running = invokeOnce();
    await running;
    running = undefined;
    job.isRunning = false;
  };
  return {
    job,
    /** Runs it, unless it runs already. */
    runIfIdle: async (): Promise<void> => (running ? undefined : run()),
    /** Runs it, after the run that is going on. */
    async runAfterwards(): Promise<void> {
      await running;
      await run();
    },
  };
};

/**
 * Invokes each schedule's function at its rate, first after one period. An invocation is skipped while the previous
 * one still runs.
 */
export const startSchedules = (schedules: readonly Schedule[], scheduling: Scheduling): Schedules => {
  const { maxPeriodMs = Number.POSITIVE_INFINITY } = scheduling;
  const jobs = [...schedules].sort((a, b) => a.periodMs - b.periodMs).map((schedule) => createJob(schedule, scheduling));
  const timers = jobs.map(({ job, runIfIdle }) => setInterval(() => void runIfIdle(), Math.min(job.periodMs, maxPeriodMs)).unref());
  return {
    jobs: () => jobs.map(({ job }) => job),
    async catchUp(skippedMs) {
      for (const { job, runAfterwards } of jobs) if (job.periodMs <= skippedMs) await runAfterwards();
    },
    close() {
      for (const timer of timers) clearInterval(timer);
    },
  };
};
