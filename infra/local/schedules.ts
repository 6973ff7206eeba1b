import { randomUUID } from 'node:crypto';
import type { Schedule } from './assembly/local-app.ts';
import { ACCOUNT_ID, REGION } from './assembly/resolve.ts';

/**
 * Invokes each schedule's function at its rate, first after one period. An invocation is skipped while the previous one still runs.
 * @returns a function that stops all schedules
 */
export const startSchedules = (
  schedules: readonly Schedule[],
  invoke: (functionArn: string, event: unknown) => Promise<unknown>,
  log: (line: string) => void,
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
    return setInterval(() => void run(), schedule.periodMs).unref();
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
};

const scheduledEvent = ({ ruleArn }: Schedule): object => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: ACCOUNT_ID,
  time: new Date().toISOString(),
  region: REGION,
  resources: [ruleArn],
  detail: {},
});
