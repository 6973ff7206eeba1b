import { Duration } from 'aws-cdk-lib';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Rule } from 'aws-cdk-lib/aws-events';
import type { NodeFunction } from '../functions/node-function.ts';
import type { WorkQueue } from '../queues/work-queue.ts';
import { type Alarms, ageOfStream, errorsOf, logMessage, runsOf, visibleMessages } from './alarms.ts';

interface Watched {
  billing: { function: NodeFunction; tasks: WorkQueue; schedule: Rule };
  notifications: { function: NodeFunction; deliveries: WorkQueue };
}

const LOOK_PERIOD = Duration.hours(1);
const MISSED_LOOKS = 3;
// A month can be closed from 01:00 UTC on, and is late at 06:00.
const MONTHS_LATE = Duration.hours(5);
// For notifications without deliveries.
const NOTIFICATIONS_LATE = Duration.minutes(15);

/** Adds the alarms of billing and notifications. @returns what the dashboard shows of them */
export const addBillingAlarms = (alarms: Alarms, { billing, notifications }: Watched): Metric[] => {
  const fn = billing.function;
  const differing = alarms.count('TotalsDiffering', logMessage('totals_differ'), fn);
  const failedTasks = alarms.count('BillingTaskFailed', logMessage('billing_task_failed'), fn);
  // Other invocations are those of tasks.
  const looks = runsOf(billing.schedule, LOOK_PERIOD);
  const late = alarms.value('MonthsLateMinutes', logMessage('months_due'), '$.late_minutes', fn, LOOK_PERIOD);

  alarms.above('TotalsDiffer', differing, 0);
  alarms.above('MonthsNotClosed', late, MONTHS_LATE.toMinutes());
  alarms.above('BillingTasksStuck', visibleMessages(billing.tasks.failures), 0);
  alarms.above('BillingFailed', errorsOf(fn), 0);
  alarms.whenMissing('BillingStalled', looks, MISSED_LOOKS);

  alarms.above('NotificationsLate', ageOfStream(notifications.function), NOTIFICATIONS_LATE.toMilliseconds());
  alarms.above('DeliveriesStuck', visibleMessages(notifications.deliveries.failures), 0);
  return [differing, failedTasks];
};
