import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { EventSource } from '../../../../infra/assembly/local-app.ts';
import { createTableWrites, type WatchedTable } from '../../../../infra/local/dynamodb/table-writes.ts';
import { startEventSource } from '../../../../infra/local/streams/event-source.ts';
import type { StreamReader } from '../../../../infra/local/streams/stream-reader.ts';

const source: EventSource = {
  logicalId: 'Reads',
  sourceArn: 'arn:stream',
  tableName: 'things',
  functionName: 'reader',
  batchSize: 4,
  windowMs: 60_000,
  filters: [],
  bisects: false,
  maxRetries: 2,
  maxAgeMs: 3_600_000,
  failureQueueArn: 'arn:queue',
};

type Sequence = string | undefined;
let stop = (): void => undefined;
const batches: Sequence[][] = [];
const failures: unknown[] = [];
const lines: string[] = [];
// One page per poll.
const pages: string[][] = [];
const reader: StreamReader = {
  async *poll() {
    const page = pages.shift();
    if (page) yield page.map((SequenceNumber) => ({ eventName: 'INSERT', dynamodb: { SequenceNumber } }));
  },
};

const start = (changes: Partial<EventSource> = {}, poison: Sequence[] = [], table?: WatchedTable): void => {
  stop = startEventSource({
    table,
    source: { ...source, ...changes },
    reader,
    invoke: async (_name, event) => {
      const { Records } = event as { Records: { dynamodb: { SequenceNumber: string } }[] };
      const batch = Records.map(({ dynamodb }) => dynamodb.SequenceNumber);
      batches.push(batch);
      if (batch.some((sequence) => poison.includes(sequence))) throw new Error('it broke');
    },
    sendFailure: async (queueArn, message) => void failures.push({ queueArn, ...message }),
    log: (line) => lines.push(line),
  });
};

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  stop();
  jest.useRealTimers();
  for (const list of [batches, failures, lines, pages]) list.splice(0);
});
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('an event source', () => {
  test('invokes its function when the window has passed since the first record, or when the batch is full', async () => {
    start();
    pages.push(['1']);
    await pass(30_000);
    pages.push(['2']);
    await pass(29_000);
    expect(batches).toEqual([]);
    await pass(1_500);
    expect(batches).toEqual([['1', '2']]);
    pages.push(['3', '4', '5', '6', '7']);
    await pass(1_000);
    expect(batches).toEqual([
      ['1', '2'],
      ['3', '4', '5', '6'],
    ]);
    await pass(60_000);
    expect(batches.at(-1)).toEqual(['7']);
  });

  test('passes only records that match a filter', async () => {
    const filters = ['2', '3'].map(
      (wanted) => (record: unknown) => (record as { dynamodb: { SequenceNumber: string } }).dynamodb.SequenceNumber === wanted,
    );
    start({ filters, windowMs: 0 });
    pages.push(['1', '2'], ['3', '4']);
    await pass(1_000);
    expect(batches.flat()).toEqual(['2', '3']);
  });

  test('retries a failed batch as often as the mapping says, and then reports its records to the queue', async () => {
    start({ windowMs: 0 }, ['2']);
    pages.push(['1', '2']);
    pages.push(['3']);
    await pass(60_000);
    expect(batches).toEqual([['1', '2'], ['1', '2'], ['1', '2'], ['3']]);
    expect(failures).toEqual([
      expect.objectContaining({
        queueArn: 'arn:queue',
        requestContext: { functionArn: 'reader', condition: 'RetryAttemptsExhausted', approximateInvokeCount: 3 },
        DDBStreamBatchInfo: { startSequenceNumber: '1', endSequenceNumber: '2', batchSize: 2, streamArn: 'arn:stream' },
      }),
    ]);
    expect(lines[0]).toBe('event source Reads: a batch of 2 failed: it broke');
  });

  test('gives up only the record that fails if it bisects, and processes all others', async () => {
    start({ windowMs: 0, bisects: true }, ['3']);
    pages.push(['1', '2', '3', '4']);
    await pass(60_000);
    expect(batches).toEqual([['1', '2', '3', '4'], ['1', '2'], ['3', '4'], ['3'], ['3'], ['3'], ['4']]);
    expect(failures).toEqual([
      expect.objectContaining({ DDBStreamBatchInfo: expect.objectContaining({ startSequenceNumber: '3', batchSize: 1 }) }),
    ]);
  });

  test('gives up a batch that has failed for longer than the maximum record age', async () => {
    start({ windowMs: 0, maxRetries: Number.POSITIVE_INFINITY, maxAgeMs: 10_000 }, ['1']);
    pages.push(['1']);
    await pass(9_000);
    expect(failures).toEqual([]);
    await pass(10_000);
    expect(failures).toHaveLength(1);
  });

  test.each([
    ['', undefined],
    [' of a watched table', createTableWrites().watch('things')],
  ])('logs that its stream%s could not be read, and continues', async (_, table) => {
    jest.spyOn(reader, 'poll').mockImplementationOnce(() => {
      throw new Error('gone');
    });
    start({ windowMs: 0 }, [], table);
    pages.push(['1']);
    await pass(1_000);
    expect(lines).toEqual(['event source Reads: the stream could not be read: gone']);
    expect(batches).toEqual([['1']]);
  });

  test('reads a stream without records once a second, and one with records four times', async () => {
    const poll = jest.spyOn(reader, 'poll');
    const pollsIn = async (ms: number): Promise<number> => {
      const before = poll.mock.calls.length;
      await pass(ms);
      return poll.mock.calls.length - before;
    };
    start({ windowMs: 0 });
    expect(await pollsIn(4_000)).toBe(16);
    await pass(10_000);
    expect(await pollsIn(4_000)).toBe(4);
    pages.push(['1']);
    await pass(1_000);
    expect(batches).toEqual([['1']]);
    expect(await pollsIn(4_000)).toBe(16);
    poll.mockRestore();
  });

  test('reads the stream of a watched table at each write, and otherwise every five seconds', async () => {
    const poll = jest.spyOn(reader, 'poll');
    const writes = createTableWrites();
    const write = (table: string): void => writes.note('DynamoDB_20120810.PutItem', Buffer.from(JSON.stringify({ TableName: table })));
    start({ windowMs: 0 }, [], writes.watch('things'));
    await pass(9_000);
    expect(poll).toHaveBeenCalledTimes(2);
    write('others');
    await pass(0);
    expect(poll).toHaveBeenCalledTimes(2);
    pages.push(['1']);
    write('things');
    await pass(0);
    expect(batches).toEqual([['1']]);
    poll.mockClear();
    for (let ms = 0; ms < 1_000; ms += 10) {
      write('things');
      await pass(10);
    }
    expect(poll.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(poll.mock.calls.length).toBeLessThanOrEqual(5);
    poll.mockRestore();
  });

  test('invokes its function at the end of the window although nothing writes to the watched table', async () => {
    start({ windowMs: 700 }, [], createTableWrites().watch('things'));
    pages.push(['1']);
    await pass(5_000);
    expect(batches).toEqual([]);
    await pass(700);
    expect(batches).toEqual([['1']]);
  });

  test('does nothing after it is stopped', async () => {
    start();
    pages.push(['1']);
    await pass(1_000);
    stop();
    await pass(120_000);
    expect(batches).toEqual([]);
  });
});
