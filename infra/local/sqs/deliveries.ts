import * as z from 'zod';
import type { QueueSource } from '../../assembly/local-app.ts';
import { REGION } from '../../assembly/resolve.ts';
import type { LocalQueue, Message } from './local-queue.ts';

const POLL_MS = 100;

interface DeliveriesOptions {
  source: QueueSource;
  queue: LocalQueue;
  invoke: (functionName: string, event: unknown) => Promise<unknown>;
  /** Adds a message that failed to the end to the dead-letter queue. */
  sendFailure: (queueArn: string, message: object) => Promise<void>;
  log: (line: string) => void;
}

// ReportBatchItemFailures; without a value, all messages succeeded.
const BatchResult = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).nullish() }).nullish();

/**
 * Delivers a queue's messages to a function, as Lambda does. Unlike SQS, it delivers a failed message again after a
 * growing delay of at most five seconds, and not after the queue's visibility timeout.
 * @returns a function that stops it
 */
export const startDeliveries = ({ source, queue, invoke, sendFailure, log }: DeliveriesOptions): (() => void) => {
  const { signal, abort } = stopSignal();
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

  /** The ids of the messages that failed. */
  const deliver = async (batch: readonly Message[]): Promise<ReadonlySet<string>> => {
    try {
      const result = BatchResult.parse(await invoke(source.functionName, { Records: batch.map((message) => toRecord(source, message)) }));
      return new Set(result?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
    } catch (error) {
      if (!signal.aborted) log(`queue source ${source.logicalId}: a batch of ${batch.length} failed: ${String(error)}`);
      return new Set(batch.map(({ id }) => id));
    }
  };

  const giveUp = async (message: Message): Promise<void> => {
    const { group, body } = message;
    if (source.failureQueueArn !== undefined) await sendFailure(source.failureQueueArn, { ...(group !== undefined && { group }), body });
    queue.remove(message);
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const batch = queue.receive(source.batchSize);
      const failed = batch.length > 0 ? await deliver(batch) : new Set();
      for (const message of batch) {
        if (!failed.has(message.id)) queue.remove(message);
        else if (message.deliveries >= source.maxDeliveries) await giveUp(message).catch((error: unknown) => log(String(error)));
        else queue.retry(message);
      }
      if (batch.length > 0) continue;
      await queue.untilFilled();
      await wait(POLL_MS);
    }
  };

  for (let batches = 0; batches < queue.maxBatches; batches++) void run();
  return abort;
};

const stopSignal = () => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
};

// https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
const toRecord = ({ queueArn }: QueueSource, { id, body, group, deduplicationId, sentAtMs, deliveries }: Message): object => ({
  messageId: id,
  receiptHandle: id,
  body,
  attributes: {
    ApproximateReceiveCount: String(deliveries),
    SentTimestamp: String(sentAtMs),
    ...(group !== undefined && { MessageGroupId: group, MessageDeduplicationId: deduplicationId }),
  },
  messageAttributes: {},
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn,
  awsRegion: REGION,
});
