import type { EventSource } from '../../assembly/local-app.ts';
import type { WatchedTable } from '../dynamodb/table-writes.ts';
import { createBackoff } from '../processes/backoff.ts';
import { toLambdaRecord } from './lambda-record.ts';
import type { StreamReader } from './stream-reader.ts';

// Each poll takes a millisecond of CPU.
const POLL_MS = 250;
// Most tables of a local run are not used for most of the time.
const IDLE_POLL_MS = 1_000;
const IDLE_AFTER_POLLS = 40;
// Time to live deletes items without a call.
const UNWRITTEN_POLL_MS = 5_000;

export interface EventSourceOptions {
  source: EventSource;
  reader: StreamReader;
  /** Says when the stream has new records. Without it, the stream is read again and again. */
  table?: WatchedTable | undefined;
  invoke: (functionName: string, event: unknown) => Promise<unknown>;
  /** Sends the message about a batch that exhausted its retries. */
  sendFailure: (queueArn: string, message: object) => Promise<void>;
  log: (line: string) => void;
}

/**
 * Runs an event source mapping as Lambda does: collects matching records until the batch is full or its window has
 * passed, and invokes the function. A failed batch is retried, in halves if the mapping says so, until the retries or
 * the maximum record age are exhausted. Unlike on Lambda, a record's age counts from its first failure, because a
 * restart reads the stream from its beginning.
 * @returns a function that stops it; an unfinished batch is delivered again after a restart
 */
export const startEventSource = ({ source, reader, table, invoke, sendFailure, log }: EventSourceOptions): (() => void) => {
  const stopped = new AbortController();
  const { signal } = stopped;
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
  const logError = (what: string, error: unknown): void => {
    if (!signal.aborted) log(`event source ${source.logicalId}: ${what}: ${error instanceof Error ? error.message : String(error)}`);
  };

  const reportFailure = async (records: readonly unknown[], attempts: number): Promise<void> => {
    if (source.failureQueueArn === undefined) return;
    await sendFailure(source.failureQueueArn, failureMessage(source, records, attempts));
  };

  const deliver = async (records: readonly unknown[], retries: number, firstFailedAtMs?: number): Promise<void> => {
    const backoff = createBackoff();
    let failedAtMs = firstFailedAtMs;
    for (let attempt = retries; !signal.aborted; attempt++) {
      try {
        await invoke(source.functionName, { Records: records });
        return;
      } catch (error) {
        logError(`a batch of ${records.length} failed`, error);
        failedAtMs ??= performance.now();
      }
      if (signal.aborted) return;
      if (source.bisects && records.length > 1) {
        const middle = Math.ceil(records.length / 2);
        await deliver(records.slice(0, middle), attempt, failedAtMs);
        return deliver(records.slice(middle), attempt, failedAtMs);
      }
      if (attempt >= source.maxRetries || performance.now() - failedAtMs >= source.maxAgeMs) return reportFailure(records, attempt + 1);
      await wait(backoff.nextDelayMs());
    }
  };

  // Under constant writes the stream is read no more often than without news of them.
  const waitForWrite = async (watched: WatchedTable, windowLeftMs: number, polledAtMs: number): Promise<void> => {
    const startedAtMs = performance.now();
    if (!(await watched.written(Math.min(windowLeftMs, UNWRITTEN_POLL_MS)))) return;
    const nowMs = performance.now();
    const waitMs = Math.min(polledAtMs + POLL_MS - nowMs, startedAtMs + windowLeftMs - nowMs);
    if (waitMs > 0) await wait(waitMs);
  };

  const run = async (): Promise<void> => {
    let batch: unknown[] = [];
    let firstReadAtMs = 0;
    let emptyPolls = 0;
    const backoff = createBackoff();
    while (!signal.aborted) {
      let read = 0;
      let hasFailed = false;
      const polledAtMs = performance.now();
      try {
        for await (const page of reader.poll()) {
          const records = page.map((record) => toLambdaRecord(record, source.sourceArn));
          if (batch.length === 0) firstReadAtMs = performance.now();
          batch.push(...records.filter((record) => source.filters.length === 0 || source.filters.some((passes) => passes(record))));
          read += page.length;
        }
        backoff.reset();
      } catch (error) {
        hasFailed = true;
        logError('the stream could not be read', error);
        await wait(backoff.nextDelayMs());
      }
      while (batch.length >= source.batchSize || (batch.length > 0 && performance.now() - firstReadAtMs >= source.windowMs)) {
        const next = batch.slice(0, source.batchSize);
        batch = batch.slice(source.batchSize);
        await deliver(next, 0).catch((error: unknown) => logError('a failed batch could not be reported', error));
        if (signal.aborted) return;
      }
      emptyPolls = read === 0 ? emptyPolls + 1 : 0;
      if (read > 0) continue;
      const windowLeftMs = batch.length > 0 ? firstReadAtMs + source.windowMs - performance.now() : Number.POSITIVE_INFINITY;
      if (table && !hasFailed) await waitForWrite(table, windowLeftMs, polledAtMs);
      else await wait(batch.length === 0 && emptyPolls > IDLE_AFTER_POLLS ? IDLE_POLL_MS : POLL_MS);
    }
  };

  void run();
  return () => stopped.abort();
};

// Lambda's message names the records that failed, without their contents.
const failureMessage = (source: EventSource, records: readonly unknown[], attempts: number): object => {
  const changes = records.map((record) => (record as { dynamodb: { SequenceNumber: string } }).dynamodb);
  return {
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: { functionArn: source.functionName, condition: 'RetryAttemptsExhausted', approximateInvokeCount: attempts },
    DDBStreamBatchInfo: {
      startSequenceNumber: changes[0]?.SequenceNumber,
      endSequenceNumber: changes.at(-1)?.SequenceNumber,
      batchSize: records.length,
      streamArn: source.sourceArn,
    },
  };
};
