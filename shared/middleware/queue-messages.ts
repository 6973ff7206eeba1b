import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import { inParallel } from '../database/in-parallel.ts';
import { logError } from '../logging/log.ts';
import type { TimedContext } from './deadline.ts';

/** The handling of a queue's messages. */
export interface MessageWork<Message> {
  /**
   * Reads each message before the first one is handled. What it throws fails the whole batch, so that a message is
   * best read in `handle`.
   */
  read: (record: SQSRecord) => Message;
  /** Handles one message. What it throws is logged, and only this message is delivered again. */
  handle: (message: Message, hasTime: () => boolean) => Promise<void>;
  /** The name of the log line of a failed message. */
  failure: string;
  /** The facts of that line. */
  factsOf: (message: Message, record: SQSRecord) => Record<string, unknown>;
  /** The number of messages that are handled at the same time. Default: one after the other. */
  parallel?: number;
}

const always = (): boolean => true;

const recordsOf = (event: unknown): SQSRecord[] | undefined => {
  const { Records } = event as { Records?: SQSRecord[] };
  return Records?.every((record) => 'body' in record) ? Records : undefined;
};

// Returns the messages to deliver again
// (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
const handleAll = async <Message>(
  { read, handle, failure, factsOf, parallel = 1 }: MessageWork<Message>,
  records: readonly SQSRecord[],
  hasTime: () => boolean,
): Promise<SQSBatchResponse> => {
  const failed = new Set<string>();
  const blocked = new Set<string>();
  const handleOne = async ({ message, record }: { message: Message; record: SQSRecord }): Promise<void> => {
    const group = record.attributes?.MessageGroupId;
    try {
      if (group !== undefined && blocked.has(group)) throw new Error('An earlier message of its group failed.');
      if (!hasTime()) throw new Error('The function ran out of time.');
      await handle(message, hasTime);
    } catch (error) {
      logError(failure, error, factsOf(message, record));
      failed.add(record.messageId);
      if (group !== undefined) blocked.add(group);
    }
  };
  await inParallel(
    records.map((record) => ({ message: read(record), record })),
    parallel,
    handleOne,
  );
  return { batchItemFailures: records.flatMap(({ messageId }) => (failed.has(messageId) ? [{ itemIdentifier: messageId }] : [])) };
};

/**
 * Middleware: handles the batches of an SQS queue. Each message that fails is delivered again, also one for which
 * there is no time left; the others are done. In a FIFO queue, the later messages of its group are not handled
 * either, so that their order stays. Other events are left to the handler.
 */
export const queueMessages = <Message>(work: MessageWork<Message>) => ({
  before: ({ event, context }: { event: unknown; context: Partial<Pick<TimedContext, 'hasTime'>> }) => {
    const records = recordsOf(event);
    return records && handleAll(work, records, context.hasTime ?? always);
  },
});
