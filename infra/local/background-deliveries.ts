import path from 'node:path';
import type { LocalApp } from '../assembly/local-app.ts';
import type { Schedules } from './clock/schedules.ts';
import type { TableWrites } from './dynamodb/table-writes.ts';
import type { FunctionSet } from './lambda/function-set.ts';
import { startLogSubscriptions } from './logs/subscriptions.ts';
import { createQueues } from './queues.ts';
import { startSchedules } from './schedules.ts';
import { startDeliveries } from './sqs/deliveries.ts';
import type { LocalQueue } from './sqs/local-queue.ts';
import { startEventSources } from './streams/event-sources.ts';

interface DeliverySettings {
  stateDir: string;
  logFolder: string;
  databaseUrl: string;
  writes: TableWrites | undefined;
  hasStreams: boolean;
  batchWindowMs: number | undefined;
  scheduleMs: number | undefined;
  /** The queues whose messages functions get, by URL. */
  queues: ReadonlyMap<string, LocalQueue>;
  invoke: FunctionSet['invoke'];
  log: (line: string) => void;
}

/**
 * Invokes functions by their schedules, and for records of streams, lines of logs and messages of queues.
 * @param started gets what ends the deliveries
 * @returns the schedules
 */
export const startBackgroundDeliveries = (app: LocalApp, settings: DeliverySettings, started: AsyncDisposableStack): Schedules => {
  const { stateDir, logFolder, databaseUrl, writes, hasStreams, batchWindowMs, scheduleMs, queues, invoke, log } = settings;
  const { send: sendFailure } = createQueues(app.queues, path.join(stateDir, 'queues'));
  const nameOf = (arn: string): string => app.functions.find((fn) => fn.arn === arn)?.shortName ?? arn;
  const schedules = startSchedules(app.schedules, { invoke, nameOf, log, maxPeriodMs: scheduleMs });
  started.defer(schedules.close);
  const eventSources = hasStreams ? app.eventSources : [];
  started.defer(startEventSources({ eventSources, url: databaseUrl, writes, batchWindowMs, invoke, sendFailure, log }));
  started.defer(startLogSubscriptions({ subscriptions: app.logSubscriptions, logFolder, invoke, sendFailure, log }));
  for (const source of app.queueSources) {
    const queue = queues.get(source.queueUrl);
    if (queue) started.defer(startDeliveries({ source, queue, invoke, sendFailure, log }));
  }
  return schedules;
};
