import { randomUUID } from 'node:crypto';
import type { Schedule } from './assembly/local-app.ts';
import { ACCOUNT_ID, REGION } from './assembly/resolve.ts';

/**
 * Invokes the functions of schedules at their rates, one period from now at first. A schedule does not overlap itself.
 * @returns a function that ends them all
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
