import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LogSubscription } from '../../../../infra/assembly/local-app.ts';
import { startLogSubscriptions } from '../../../../infra/local/logs/subscriptions.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { eventually } from '../fixtures.ts';

const subscription: LogSubscription = {
  logicalId: 'Refusals',
  logGroup: 'test-logs',
  sourceName: 'inference',
  matches: (line) => line.startsWith('{"a"'),
  functionArn: 'arn:function',
  maxRetries: 2,
  failureQueueArn: 'arn:queue',
};

interface Delivery {
  messageType: string;
  logGroup: string;
  logStream: string;
  subscriptionFilters: string[];
  logEvents: { id: string; timestamp: number; message: string }[];
}

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let stop: () => void;
const deliveries: Delivery[] = [];
const failures: { queueArn: string; message: object }[] = [];
let failing = 0;

beforeEach(() => {
  folder = temporaryFolder();
  file = path.join(folder.path, 'inference.log');
  stop = () => undefined;
  failing = 0;
});
afterEach(async () => {
  stop();
  await folder[Symbol.asyncDispose]();
  for (const list of [deliveries, failures]) list.splice(0);
});

const start = (): void => {
  stop = startLogSubscriptions({
    subscriptions: [subscription],
    logFolder: folder.path,
    invoke: async (functionArn, event) => {
      expect(functionArn).toBe('arn:function');
      const { data } = (event as { awslogs: { data: string } }).awslogs;
      deliveries.push(JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString()));
      if (failing-- > 0) throw new Error('it broke');
    },
    sendFailure: async (queueArn, message) => void failures.push({ queueArn, message }),
    log: () => undefined,
  });
};
const delivered = (): string[] => deliveries.flatMap(({ logEvents }) => logEvents.map(({ message }) => message));

describe('a subscription to the log of a function', () => {
  test('delivers the new lines that match, as CloudWatch Logs does', async () => {
    writeFileSync(file, '{"a":"before the start"}\n');
    start();
    appendFileSync(file, '{"a":1}\nanother line\n{"a":2}\n{"a":"without an en');
    await eventually(() => delivered().length === 2, 'two lines are delivered');
    appendFileSync(file, 'd, in UTF-8: ü"}\n');
    await eventually(() => delivered().length === 3, 'the third line is delivered');
    expect(delivered()).toEqual(['{"a":1}', '{"a":2}', '{"a":"without an end, in UTF-8: ü"}']);
    expect(deliveries[0]).toMatchObject({ messageType: 'DATA_MESSAGE', logGroup: 'test-logs', subscriptionFilters: ['Refusals'] });
    const ids = deliveries.flatMap(({ logEvents }) => logEvents.map(({ id }) => id));
    expect(new Set(ids).size).toBe(3);
  });

  test('delivers the lines of a file that is created later, or created again', async () => {
    start();
    writeFileSync(file, '{"a":"first file"}\n');
    await eventually(() => delivered().length === 1, 'a line of the new file is delivered');
    rmSync(file);
    writeFileSync(file, '{"a":"second"}\n');
    await eventually(() => delivered().length === 2, 'a line of the second file is delivered');
  });

  test('delivers thousands of lines in several batches, each line once', async () => {
    start();
    const lines = Array.from({ length: 2_500 }, (_, i) => `{"a":${i}}`);
    appendFileSync(file, lines.map((line) => `${line}\n`).join(''));
    await eventually(() => delivered().length >= lines.length, 'all lines are delivered');
    expect(delivered()).toEqual(lines);
    expect(Math.max(...deliveries.map(({ logEvents }) => logEvents.length))).toBeLessThanOrEqual(1_000);
  });

  test('delivers a failed batch again, unchanged', async () => {
    failing = 2;
    start();
    appendFileSync(file, '{"a":1}\n');
    await eventually(() => deliveries.length === 3, 'the batch is delivered three times');
    expect(deliveries[1]).toEqual(deliveries[0]);
    expect(deliveries[2]).toEqual(deliveries[0]);
    expect(failures).toEqual([]);
  });

  test('sends a batch that exhausted its retries to the queue, with the event, and goes on', async () => {
    failing = 3;
    start();
    appendFileSync(file, '{"a":1}\n');
    await eventually(() => failures.length === 1, 'the failure is reported');
    expect(failures[0]).toMatchObject({
      queueArn: 'arn:queue',
      message: {
        requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 },
        requestPayload: { awslogs: { data: expect.any(String) } },
        responsePayload: { errorMessage: 'it broke' },
      },
    });
    appendFileSync(file, '{"a":2}\n');
    await eventually(() => delivered().includes('{"a":2}'), 'the next line is delivered');
  });
});
