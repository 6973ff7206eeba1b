import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Destination } from '../../../functions/telemetry/destinations.ts';
import { deliveries, enqueue, type TelemetryDependencies } from '../../../functions/telemetry/handle-event.ts';
import { createHeaders } from '../../../functions/telemetry/headers.ts';
import { createSend } from '../../../functions/telemetry/send.ts';
import { writeAttributes } from '../../../shared/database/attribute-values.ts';
import { middy } from '../../../shared/middleware/middy.ts';
import { queueMessages } from '../../../shared/middleware/queue-messages.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { decodeMetrics, decodeTraces } from '../../support/emulators/otlp-decoder.ts';
import { startReceiver } from '../../support/emulators/otlp-receiver.ts';
import { ARRIVED_AT, attributesOf, chatEvent, installation, interval } from './fixtures.ts';

beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

// As in the stream.
const recordOf = ({ metadata, ...event }: UsageEvent): DynamoDBRecord => ({
  eventName: 'INSERT',
  dynamodb: {
    NewImage: JSON.parse(
      writeAttributes({ usage_bucket: 'b', usage_event: event.request_id, ...event, metadata: JSON.stringify(metadata) }),
    ),
  },
});

// As the function’s middleware does.
const handleEvent = (deps: TelemetryDependencies, event: DynamoDBStreamEvent | SQSEvent) =>
  middy<DynamoDBStreamEvent, unknown>()
    .use(queueMessages(deliveries(deps)))
    .handler(({ Records }) => enqueue(deps, Records))(event as DynamoDBStreamEvent, {} as Context);

const worldOf = (destinations: readonly Destination[]) => {
  const queues = destinations.map(() => [] as string[]);
  const headersOf = createHeaders({
    readSecret: async () => '{}',
    credentials: () => ({ accessKeyId: 'a', secretAccessKey: 'b' }),
    now: () => ARRIVED_AT,
  });
  const deps: TelemetryDependencies = {
    destinations: destinations.map((destination, i) => ({ destination, queue: { send: async ({ body }) => void queues[i]?.push(body) } })),
    installation,
    send: createSend({ headersOf }),
    nextInterval: () => interval,
  };
  const deliver = (bodies: readonly string[]) =>
    handleEvent(deps, {
      Records: bodies.map((body, i) => ({ messageId: `m${i}`, body, eventSourceARN: 'arn:aws:sqs:eu-west-1:1:queue' }) as SQSRecord),
    });
  return { deps, queues, deliver, read: (events: readonly UsageEvent[]) => handleEvent(deps, { Records: events.map(recordOf) }) };
};

describe('the telemetry of usage events', () => {
  test('reaches each destination with the numbers of the event', async () => {
    await using receiver = await startReceiver();
    const world = worldOf([
      { signal: 'traces', url: `${receiver.url}/v1/traces` },
      { signal: 'metrics', url: `${receiver.url}/v1/metrics` },
    ]);
    const event = chatEvent();
    await world.read([event]);
    expect(await world.deliver(world.queues.flat())).toEqual({ batchItemFailures: [] });
    const bodyAt = (path: string): Buffer => receiver.received.find((request) => request.path === path)?.body as Buffer;
    const spans = decodeTraces(bodyAt('/v1/traces')).resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
    expect(attributesOf(spans[0]?.attributes ?? [])).toMatchObject({
      'sluice.request.id': event.request_id,
      'sluice.cost_nanos': event.cost_nanos,
    });
    expect(attributesOf(spans[1]?.attributes ?? [])).toMatchObject({ 'gen_ai.usage.output_tokens': BigInt(event.completion_tokens) });
    const metrics = decodeMetrics(bodyAt('/v1/metrics')).resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
    expect(metrics.find(({ name }) => name === 'sluice.cost')?.sum?.dataPoints).toMatchObject([{ asInt: String(event.cost_nanos) }]);
    expect(metrics.find(({ name }) => name === 'gen_ai.server.request.duration')?.exponentialHistogram?.dataPoints).toMatchObject([
      { count: '1', sum: event.duration_ms / 1_000 },
    ]);
  });

  test('waits for a dead destination in the queue of that destination only', async () => {
    await using receiver = await startReceiver();
    const world = worldOf([
      { signal: 'traces', url: 'http://127.0.0.1:1/v1/traces' },
      { signal: 'traces', url: `${receiver.url}/v1/traces` },
    ]);
    await world.read([chatEvent()]);
    expect(world.queues.map(({ length }) => length)).toEqual([1, 1]);
    expect(await world.deliver(world.queues[0] ?? [])).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    expect(await world.deliver(world.queues[1] ?? [])).toEqual({ batchItemFailures: [] });
    expect(receiver.received).toHaveLength(1);
  });

  test('is the same each time a message is delivered', async () => {
    await using receiver = await startReceiver();
    const world = worldOf([{ signal: 'metrics', url: receiver.url }]);
    await world.read([chatEvent()]);
    await world.deliver(world.queues.flat());
    await world.deliver(world.queues.flat());
    expect(receiver.received[1]?.body).toEqual(receiver.received[0]?.body);
  });

  test('has no request for a correction of a price', async () => {
    const world = worldOf([{ signal: 'traces', url: 'http://127.0.0.1:1' }]);
    const event = chatEvent();
    await world.read([{ ...event, request_id: `${event.request_id}#2`, rerate: { id: 'rr_1', from: 'v1' } }]);
    expect(world.queues).toEqual([[]]);
  });

  test('fails for the whole batch if a queue accepts nothing, so that the stream delivers it again', async () => {
    const { deps, read } = worldOf([{ signal: 'traces', url: 'http://127.0.0.1:1' }]);
    deps.destinations[0]?.queue && Object.assign(deps.destinations[0].queue, { send: () => Promise.reject(new Error('SQS is away.')) });
    await expect(read([chatEvent()])).rejects.toThrow('SQS is away.');
  });

  test('keeps a message whose destination was removed from the configuration', async () => {
    const before = worldOf([{ signal: 'traces', url: 'http://127.0.0.1:1/old' }]);
    await before.read([chatEvent()]);
    const after = worldOf([{ signal: 'traces', url: 'http://127.0.0.1:1/new' }]);
    expect(await after.deliver(before.queues.flat())).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
  });
});
