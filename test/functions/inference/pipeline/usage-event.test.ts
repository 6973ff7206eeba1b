import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { traceparentOf } from '../../../../functions/inference/pipeline/usage-event.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { toErrorReply } from '../../../../shared/middleware/error-replies.ts';
import { RefusedByModel, UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { phasesOf } from '../../../../shared/usage/phases.ts';
import { END, read, startTestPipeline, type TestPipeline, text } from '../../../support/fixtures/pipeline.ts';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const CANARY = 'canary-5d1f';

let pipeline: TestPipeline;
let lines: string[];
beforeAll(async () => {
  pipeline = await startTestPipeline();
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
});
afterAll(() => pipeline.close());

const answering: Invoke = async function* ({ onHead }) {
  onHead?.();
  yield text('Hello');
  yield END;
};

const one = async (invoke: Invoke, body: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
  lines = [];
  const { call, events, keyId } = await pipeline.setUp(invoke, {}, { concurrency: 5 });
  const reply = await call(body, 600_000, headers).catch((error: unknown) => error);
  const [event, ...others] = await events();
  expect(others).toEqual([]);
  return { reply, event: event as NonNullable<typeof event>, keyId };
};

describe('the event of a request', () => {
  test('has the ends of its steps, in their order, and its phases cover its whole duration', async () => {
    const { event } = await one(answering);
    const ends = event.step_ends_ms ?? [];
    expect(ends).toHaveLength(6);
    expect(ends).not.toContain(null);
    expect([...ends].sort((a, b) => Number(a) - Number(b))).toEqual(ends);
    const phases = phasesOf(event);
    expect(phases.map(({ name }) => name).filter((name) => name !== 'wait')).toEqual([
      'parse',
      'admit',
      'fit',
      'invoke',
      'first_token',
      'generate',
      'settle',
    ]);
    expect([phases[0]?.from_ms, phases.at(-1)?.to_ms]).toEqual([0, event.duration_ms]);
  });

  test('has what its limiter had left, as the caller sees it in the headers of the reply', async () => {
    const { event, reply } = await one(answering);
    const { headers } = reply as { headers: Record<string, string> };
    expect(event.limiter).toMatchObject({ in_flight: 1, concurrency: 5 });
    expect(String(event.limiter?.requests_left)).toBe(headers['x-ratelimit-remaining-requests']);
    expect(String(event.limiter?.tokens_left)).toBe(headers['x-ratelimit-remaining-tokens']);
  });

  test('has the trace context of its caller if that is valid', async () => {
    expect((await one(answering, {}, { Traceparent: TRACE })).event.traceparent).toBe(TRACE);
    expect((await one(answering, {}, { traceparent: TRACE.toUpperCase() })).event.traceparent).toBeUndefined();
  });

  test('names the documented fields without effect, and never the names that a caller made up', async () => {
    const { event } = await one(answering, { mirostat_lr: 0.1, [CANARY]: 1 });
    expect(event.ignored).toEqual(['mirostat_lr']);
    expect(inspect(event, { depth: 9 })).not.toContain(CANARY);
  });

  test('counts the targets that were tried', async () => {
    let calls = 0;
    const { event } = await one(
      async function* (invocation) {
        if (calls++ === 0) throw new UpstreamFailed('upstream_error', 'x');
        yield* answering(invocation);
      },
      { model: 'counted', max_tokens: 5 },
    );
    expect(event.tries).toBe(2);
  });

  test('has the error that its caller saw: the status, the code and the message', async () => {
    const { event, reply } = await one(async function* () {
      yield* [];
      throw new UpstreamFailed('no_capacity', CANARY);
    });
    expect(event).toMatchObject({ error_code: 'no_capacity', error_status: 503, error_message: (reply as Error).message });
    expect(event.step_ends_ms?.slice(4)).toEqual([null, null]);
    expect(inspect(event, { depth: 9 })).not.toContain(CANARY);
  });

  test('does not have a message with the words of the runtime, which can quote the request', async () => {
    const { event } = await one(async function* () {
      yield* [];
      throw new RefusedByModel(`Unknown word ${CANARY}`);
    });
    expect(event).toMatchObject({ error_code: 'invalid_value', error_status: 400 });
    expect(event.error_message).toBeUndefined();
  });

  test('takes one write unit, even with all of its fields', async () => {
    const { event } = await one(
      async function* (invocation) {
        yield* answering(invocation);
      },
      { stream: false, user: 'u'.repeat(64), metadata: { project: 'p'.repeat(64) }, mirostat_lr: 0.1, mirostat_target: 2 },
      { traceparent: TRACE },
    );
    const stored = {
      ...event,
      cost_nanos: Number(event.cost_nanos),
      usage_bucket: `${event.key_id}#2026-11-21T16:40Z`,
      usage_event: event.request_id,
    };
    // JSON has more characters for an item than DynamoDB counts bytes.
    expect(JSON.stringify(stored).length).toBeLessThanOrEqual(1_024);
  });
});

describe('the log line', () => {
  test('has the ids of a request, and nothing that the caller wrote', async () => {
    const { event, keyId } = await one(answering, {
      user: CANARY,
      metadata: { [CANARY]: CANARY },
      stop: CANARY,
      [CANARY]: CANARY,
      messages: [{ role: 'user', content: CANARY }],
    });
    expect(lines.join('')).not.toContain(CANARY);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      message: 'request',
      request_id: event.request_id,
      key_id: keyId,
      org_id: event.org_id,
    });
  });

  test('says how long the settlement of a request took', async () => {
    await one(answering);
    expect(JSON.parse(lines.at(-1) ?? '').settle_ms).toBeGreaterThanOrEqual(0);
  });

  test('names the request of a target that failed', async () => {
    let calls = 0;
    const { event, keyId } = await one(
      async function* (invocation) {
        if (calls++ === 0) throw new UpstreamFailed('upstream_error', CANARY);
        yield* answering(invocation);
      },
      { model: 'counted', max_tokens: 5 },
    );
    const failed = lines.map((line) => JSON.parse(line)).find(({ message }) => message === 'target_failed');
    expect(failed).toMatchObject({ request_id: event.request_id, key_id: keyId, org_id: event.org_id });
    expect(lines.join('')).not.toContain(CANARY);
  });

  test('has the key and organization of a rejected request, and not the model that it named', async () => {
    const { eventOf, serveEvent, keyId } = await pipeline.setUp(answering);
    const event = eventOf({ model: CANARY });
    const error = await serveEvent(event).catch((thrown: unknown) => thrown);
    lines = [];
    await toErrorReply(error, event);
    const [line = ''] = lines;
    expect(JSON.parse(line)).toMatchObject({ message: 'refused', key_id: keyId, org_id: expect.any(String), code: 'model_not_found' });
    expect(line).not.toContain(CANARY);
  });
});

const traceparent = (value: string) => traceparentOf({ headers: { Traceparent: value } } as unknown as ApiEvent);

describe('traceparent', () => {
  test.each([TRACE, `${TRACE.slice(0, -2)}00`])('is kept as it is: %s', (value) => {
    expect(traceparent(value)).toBe(value);
  });

  test('is kept as version 00 if it is of a later one, without the fields that it adds', () => {
    expect(traceparent(`cc${TRACE.slice(2)}-more`)).toBe(TRACE);
  });

  test.each([
    '',
    'ff'.concat(TRACE.slice(2)),
    `${TRACE}-more`,
    `cc${TRACE.slice(2)}more`,
    TRACE.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    TRACE.replace('00f067aa0ba902b7', '0'.repeat(16)),
    TRACE.toUpperCase(),
    TRACE.slice(0, 54),
    ` ${TRACE}`,
  ])('is ignored if it is %j', (value) => {
    expect(traceparent(value)).toBeUndefined();
  });
});

describe('a streamed request', () => {
  test('has the same steps as one without streaming', async () => {
    lines = [];
    const { call, events } = await pipeline.setUp(answering);
    await read(await call({ stream: true }));
    const [event] = await events();
    expect(event?.step_ends_ms).not.toContain(null);
  });
});
