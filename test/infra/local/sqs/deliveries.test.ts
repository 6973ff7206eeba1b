import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { startDeliveries } from '../../../../infra/local/sqs/deliveries.ts';
import { createFifoQueue } from '../../../../infra/local/sqs/fifo-queue.ts';
import { startSqs } from '../../../../infra/local/sqs/server.ts';
import { createStandardQueue } from '../../../../infra/local/sqs/standard-queue.ts';
import { createDelayQueue, createMessageQueue } from '../../../../shared/aws/message-queue.ts';
import { createSettlementQueue } from '../../../../shared/usage/settlement-queue.ts';
import { eventually } from '../../../support/eventually.ts';

const source = {
  logicalId: 'Delivery',
  queueArn: 'arn:work',
  queueUrl: 'https://sqs.us-east-1.amazonaws.com/1/work',
  isFifo: true,
  delayMs: 0,
  functionName: 'metering',
  batchSize: 3,
  maxDeliveries: 3,
  failureQueueArn: 'arn:lost',
};

let stop: (() => void) | undefined;
afterEach(() => stop?.());

interface Record {
  messageId: string;
  body: string;
  attributes: { MessageGroupId: string; ApproximateReceiveCount: string };
}

// The function fails for these bodies as often as they say.
const deliverTo = (failures: Map<string, number>, whole = new Map<string, number>()) => {
  const queue = createFifoQueue(Date.now);
  const delivered: string[] = [];
  const lost: object[] = [];
  const fails = (left: Map<string, number>, { body }: Record): boolean => {
    const times = left.get(body) ?? 0;
    left.set(body, times - 1);
    return times > 0;
  };
  const start = (): void => {
    stop = startDeliveries({
      source,
      queue,
      log: () => undefined,
      sendFailure: async (arn, message) => void lost.push({ arn, ...message }),
      invoke: async (_, event) => {
        const { Records } = event as { Records: Record[] };
        expect(Records.length).toBeLessThanOrEqual(source.batchSize);
        if (Records.some((record) => fails(whole, record))) throw new Error('It crashed.');
        const blocked = new Set<string>();
        const failed = Records.filter((record) => {
          const { MessageGroupId: group } = record.attributes;
          if (blocked.has(group) || fails(failures, record)) blocked.add(group);
          else delivered.push(record.body);
          return blocked.has(group);
        });
        return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
      },
    });
  };
  const send = (body: string, group = body): void => void queue.send({ body, group, deduplicationId: body });
  return { queue, delivered, lost, start, send };
};

describe('a FIFO queue', () => {
  test('delivers each message once, also after a crash, and nothing twice that was sent twice', async () => {
    const { delivered, start, send } = deliverTo(new Map(), new Map([['b', 1]]));
    for (const body of ['a', 'b', 'b', 'c', 'd']) send(body);
    start();
    await eventually(async () => delivered.length >= 4, 'all are delivered');
    expect(delivered.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('delivers a group in order: what follows a failed message waits for it, other groups do not', async () => {
    const { delivered, start, send } = deliverTo(new Map([['g1', 2]]));
    for (const body of ['g1', 'g2', 'g3']) send(body, 'g');
    send('h');
    start();
    await eventually(async () => delivered.length === 4, 'all are delivered');
    expect(delivered).toEqual(['h', 'g1', 'g2', 'g3']);
  });

  test('gives a message up after the queue’s number of deliveries', async () => {
    const { delivered, lost, start, send } = deliverTo(new Map([['bad', 99]]));
    send('bad', 'g');
    start();
    await eventually(async () => lost.length > 0, 'the message is given up');
    send('next', 'g');
    await eventually(async () => delivered.length === 1, 'the next one is delivered');
    expect(lost).toEqual([{ arn: 'arn:lost', group: 'g', body: 'bad' }]);
  });
});

test('a settlement is sent to the queue in SQS’s protocol', async () => {
  const queue = createFifoQueue(Date.now);
  const sqs = await startSqs(new Map([[source.queueUrl, queue]]));
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_ENDPOINT_URL_SQS: sqs.url,
  });
  const event = {
    request_id: 'req_1',
    key_id: 'key_1',
    org_id: 'org_1',
    prompt_tokens: 1,
    cached_tokens: 0,
    completion_tokens: 1,
    source: 'runtime' as const,
    outcome: 'completed' as const,
    finish_reason: 'stop',
    admitted_at: 5,
    time_to_first_token_ms: 1,
    duration_ms: 2,
    cost_nanos: 2n ** 60n + 1n,
    price_version: '1',
    metadata: { a: 1 },
  };
  try {
    const settlement = { event, limiterId: 'key_1', shards: 2 };
    for (let i = 0; i < 2; i++) await createSettlementQueue(source.queueUrl).send(settlement);
    const received = queue.receive(10);
    expect(received).toEqual([expect.objectContaining({ group: 'req_1', deduplicationId: 'req_1.5.completed' })]);
    expect(JSON.parse(received[0]?.body ?? '{}')).toEqual({
      event: { ...event, cost_nanos: '1152921504606846977' },
      limiter_id: 'key_1',
      shards: 2,
    });
    await expect(createSettlementQueue(`${source.queueUrl}x`).send(settlement)).rejects.toMatchObject({ name: 'QueueDoesNotExist' });
  } finally {
    await sqs.close();
  }
});

describe('a standard queue', () => {
  const queueUrl = 'https://sqs.us-east-1.amazonaws.com/1/standard';

  test('delivers each message after its own delay, sent in SQS’s protocol', async () => {
    let now = 0;
    const queue = createStandardQueue(() => now);
    const sqs = await startSqs(new Map([[queueUrl, queue]]));
    process.env.AWS_ENDPOINT_URL_SQS = sqs.url;
    try {
      const sender = createDelayQueue(queueUrl);
      await sender.send({ body: 'late', delaySeconds: 900 });
      await sender.send({ body: 'now', delaySeconds: 0 });
      expect(queue.receive(10).map(({ body }) => body)).toEqual(['now']);
      now = 899_999;
      expect(queue.receive(10)).toEqual([]);
      now = 900_000;
      expect(queue.receive(10).map(({ body }) => body)).toEqual(['late']);
      await expect(sender.send({ body: 'too late', delaySeconds: 901 })).rejects.toMatchObject({ name: 'InvalidParameterValue' });
      const fifo = createMessageQueue(queueUrl);
      await expect(fifo.send({ body: 'x', group: 'g', deduplicationId: 'd' })).rejects.toMatchObject({ name: 'InvalidParameterValue' });
    } finally {
      await sqs.close();
    }
  });

  test('delivers other messages while a function still handles one, and a failed one again', async () => {
    const queue = createStandardQueue(Date.now);
    const slow = Promise.withResolvers<void>();
    const delivered: string[] = [];
    let failures = 1;
    stop = startDeliveries({
      source: { ...source, isFifo: false, batchSize: 1 },
      queue,
      log: () => undefined,
      sendFailure: async () => undefined,
      invoke: async (_, event) => {
        const [record] = (event as { Records: Record[] }).Records;
        if (record?.body === 'slow') await slow.promise;
        if (record?.body === 'failing' && failures-- > 0) throw new Error('It crashed.');
        delivered.push(String(record?.body));
      },
    });
    for (const body of ['slow', 'failing', 'quick']) queue.send({ body });
    await eventually(async () => delivered.length === 2, 'the others are delivered');
    expect(delivered.toSorted()).toEqual(['failing', 'quick']);
    slow.resolve();
    await eventually(async () => delivered.length === 3, 'the slow one is delivered');
    expect(queue.receive(10)).toEqual([]);
  });

  test('is looked at only while it has messages', async () => {
    jest.useFakeTimers();
    try {
      const { queue, delivered, start, send } = deliverTo(new Map());
      const receive = jest.spyOn(queue, 'receive');
      start();
      await jest.advanceTimersByTimeAsync(10_000);
      expect(receive).toHaveBeenCalledTimes(1);
      send('a');
      await jest.advanceTimersByTimeAsync(200);
      expect(delivered).toEqual(['a']);
      const { length: looks } = receive.mock.calls;
      await jest.advanceTimersByTimeAsync(10_000);
      expect(receive.mock.calls.length - looks).toBeLessThanOrEqual(1);
    } finally {
      jest.useRealTimers();
    }
  });
});
