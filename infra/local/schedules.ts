import type { Schedule } from '../assembly/local-app.ts';
import { toEvent } from './event-bus.ts';

/**
 * Invokes each schedule's function at its rate, first after one period. An invocation is skipped while the previous
 * one still runs.
 * @param maxPeriodMs caps the periods of the template
 * @returns a function that stops all schedules
 */
export const startSchedules = (
  schedules: readonly Schedule[],
  invoke: (functionArn: string, event: unknown) => Promise<unknown>,
  log: (line: string) => void,
  maxPeriodMs = Number.POSITIVE_INFINITY,
): (() => void) => {
  const timers = schedules.map((schedule) => {
    let running = false;
    const run = async (): Promise<void> => {
      if (running) return;
      running = true;
      try {
        await invoke(schedule.functionArn, schedule.input ?? scheduledEvent(schedule));
      } catch (error) {
        log(`schedule ${schedule.ruleArn}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        running = false;
      }
    };
    return setInterval(() => void run(), Math.min(schedule.periodMs, maxPeriodMs)).unref();
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
};

const scheduledEvent = ({ ruleArn }: Schedule): object =>
  toEvent({ source: 'aws.events', detailType: 'Scheduled Event', resources: [ruleArn], detail: {} });
