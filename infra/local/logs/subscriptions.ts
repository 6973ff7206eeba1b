import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { LogSubscription } from '../../assembly/local-app.ts';
import { ACCOUNT_ID } from '../../assembly/resolve.ts';
import { createBackoff } from '../processes/backoff.ts';
import { followFile } from './follow-file.ts';

const POLL_MS = 250;
// Most functions of a local run write nothing for most of the time.
const IDLE_POLL_MS = 1_000;
const IDLE_AFTER_POLLS = 40;
const MAX_LINES = 1_000;
const ID_DIGITS = 56;

interface SubscriptionsOptions {
  subscriptions: readonly LogSubscription[];
  /** Has a file for each function, to which its processes append. */
  logFolder: string;
  invoke: (functionArn: string, event: unknown) => Promise<unknown>;
  /** Sends the message about a batch that exhausted its retries. */
  sendFailure: (queueArn: string, message: object) => Promise<void>;
  log: (line: string) => void;
}

interface LogEvent {
  id: string;
  timestamp: number;
  message: string;
}

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html#LambdaFunctionExample
const deliveryOf = ({ logicalId, logGroup }: LogSubscription, logStream: string, logEvents: readonly LogEvent[]): object => {
  const message = { messageType: 'DATA_MESSAGE', owner: ACCOUNT_ID, logGroup, logStream, subscriptionFilters: [logicalId], logEvents };
  return { awslogs: { data: gzipSync(JSON.stringify(message)).toString('base64') } };
};

// Lambda's message to the destination of an asynchronous invocation that failed.
const failureMessage = ({ functionArn }: LogSubscription, requestPayload: object, attempts: number, error: unknown): object => ({
  version: '1.0',
  timestamp: new Date().toISOString(),
  requestContext: { requestId: randomUUID(), functionArn, condition: 'RetriesExhausted', approximateInvokeCount: attempts },
  requestPayload,
  responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
  responsePayload: { errorMessage: error instanceof Error ? error.message : String(error) },
});

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

/**
 * Delivers new lines of functions' logs as CloudWatch Logs does to a function: the lines that match, in compressed
 * batches, by asynchronous invocations. A batch that fails is delivered again, after a growing delay of at most five
 * seconds instead of one and two minutes. Lines that a stop leaves undelivered are lost.
 * @returns a function that stops all subscriptions
 */
export const startLogSubscriptions = ({ subscriptions, logFolder, invoke, sendFailure, log }: SubscriptionsOptions): (() => void) => {
  const stopped = new AbortController();
  const { signal } = stopped;

  const report = ({ logicalId }: LogSubscription, error: unknown): void =>
    log(`log subscription ${logicalId}: ${error instanceof Error ? error.message : String(error)}`);

  const deliver = async (subscription: LogSubscription, event: object): Promise<void> => {
    const backoff = createBackoff();
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await invoke(subscription.functionArn, event);
        return;
      } catch (error) {
        if (signal.aborted) return;
        report(subscription, error);
        if (attempt > subscription.maxRetries) {
          const { failureQueueArn } = subscription;
          if (failureQueueArn !== undefined) await sendFailure(failureQueueArn, failureMessage(subscription, event, attempt, error));
          return;
        }
      }
      await wait(backoff.nextDelayMs());
    }
  };

  const run = async (subscription: LogSubscription): Promise<void> => {
    const startedAtMs = Date.now();
    const stream = `[$LATEST]${startedAtMs}`;
    const follower = followFile(path.join(logFolder, `${subscription.sourceName}.log`));
    let emptyPolls = 0;
    while (!signal.aborted) {
      const read = await follower.read().catch((error: unknown) => {
        // The folder may have been deleted during the run.
        report(subscription, error);
        return [];
      });
      const lines = read.filter(({ text }) => subscription.matches(text));
      const events = lines.map(({ text, end }) => ({ id: String(end).padStart(ID_DIGITS, '0'), timestamp: Date.now(), message: text }));
      for (let at = 0; at < events.length; at += MAX_LINES)
        await deliver(subscription, deliveryOf(subscription, stream, events.slice(at, at + MAX_LINES)));
      emptyPolls = read.length === 0 ? emptyPolls + 1 : 0;
      await wait(emptyPolls > IDLE_AFTER_POLLS ? IDLE_POLL_MS : POLL_MS);
    }
  };

  for (const subscription of subscriptions) run(subscription).catch((error: unknown) => report(subscription, error));
  return () => stopped.abort();
};
