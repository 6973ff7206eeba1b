import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { WorkQueue } from './work-queue.ts';

/** Lambda's maximum: a month of a large organization, or many events to rate again. */
export const BILLING_TIMEOUT = Duration.minutes(15);
const COMMON = {
  fifo: true,
  keep: Duration.days(14),
  retryAfter: BILLING_TIMEOUT.plus(Duration.minutes(1)),
  /** About five hours of retries, longer than most outages. Then an alarm tells an operator. */
  maxDeliveries: 20,
  /** Each task gets the whole time of an invocation. */
  batchSize: 1,
};
// Closings have a number of their own.
const TASKS_AT_ONCE = 8;
// Environments that are left for the hourly schedule.
const FOR_SCHEDULE = 2;
// AWS's minimum.
const MIN_CLOSINGS_AT_ONCE = 2;

/**
 * Months that are closed at the same time: all environments that `billing` has beside those for other tasks and for
 * the schedule.
 */
export const closingsAtOnce = (reserved: number): number => Math.max(MIN_CLOSINGS_AT_ONCE, reserved - TASKS_AT_ONCE - FOR_SCHEDULE);

/**
 * The tasks of the function `billing`. The queue is FIFO with a group for each kind of task and organization, so that
 * each is done once at a time.
 */
export class BillingTasks extends WorkQueue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { ...COMMON, variable: 'BILLING_QUEUE', concurrency: TASKS_AT_ONCE });
  }
}

/**
 * The months to close. They have a queue of their own, so that alerts, expiries, exports and files don't wait for a
 * month's end.
 */
export class MonthClosings extends WorkQueue {
  constructor(scope: Construct, id: string, { tasks, reserved }: { tasks: BillingTasks; reserved: number }) {
    super(scope, id, { ...COMMON, variable: 'CLOSINGS_QUEUE', concurrency: closingsAtOnce(reserved), failures: tasks.failures });
  }
}
