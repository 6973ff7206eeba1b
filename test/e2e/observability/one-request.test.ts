import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KeyValue, MetricsData, OtlpSpan } from '../../../functions/telemetry/otlp/wire.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { synthesizeWith } from '../../support/assembly/assembly.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { decodeMetrics, decodeTraces } from '../../support/emulators/otlp-decoder.ts';
import { startReceiver } from '../../support/emulators/otlp-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const STEPS = ['parsed', 'admitted', 'fitted', 'invoked', 'accepted', 'answered'];

const receiver = await startReceiver();
const folder = temporaryFolder();
let run: TestRun;
let control: Control;
let owner: SignedIn;
let secret: string;
let keyId: string;

beforeAll(async () => {
  // As a deployer configures it, with an endpoint that is on this machine.
  const otlp = [{ traces: `${receiver.url}/v1/traces`, metrics: `${receiver.url}/v1/metrics` }];
  await synthesizeWith({ telemetry: { otlp } }, folder.path);
  run = await startTestRun('--assembly', folder.path, '--batch-window-ms', '300', '--queue-delay-ms', '300');
  control = controlOf(run);
  const { id: organization } = await control.createOrganization();
  owner = await control.createUser({ role: 'owner', organization });
  const key = { name: 'key', limits: { requests_per_minute: 60, concurrency: 4 } };
  ({ id: keyId, secret } = await control.done('POST', '/v1/api-keys', { token: owner.token, body: key }));
});
afterAll(async () => {
  await run.close();
  await receiver[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

// The request has a field without effect, and is a part of a trace.
const send = async (user: string): Promise<{ id: string; chunks: Record<string, unknown>[] }> => {
  const response = await fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
    },
    body: JSON.stringify({
      model: run.model,
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 12,
      user,
      metadata: { team: 'search' },
      speculation: 'abc',
      messages: [{ role: 'user', content: 'Tell me about rivers.' }],
    }),
  });
  const data = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return { id: response.headers.get('x-request-id') ?? '', chunks: data.map((line) => JSON.parse(line.slice('data: '.length))) };
};

const get = (path: string) => control.call('GET', path, { token: owner.token });

const plainAttributesOf = (attributes: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[kind, plain] = []] = Object.entries(value as object) as [string, unknown][];
      return [
        key,
        kind === 'intValue' ? Number(plain) : kind === 'arrayValue' ? (plain as { values: object[] }).values.flatMap(Object.values) : plain,
      ];
    }),
  );

const bodiesTo = (path: string): Buffer[] => receiver.received.filter((each) => each.path === path).map(({ body }) => body);

// A request has two spans: its own, and that of the call to its model.
const spansOf = (id: string): OtlpSpan[] =>
  bodiesTo('/v1/traces')
    .flatMap((body) => decodeTraces(body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))
    .filter(({ attributes }) => plainAttributesOf(attributes)['sluice.request.id'] === id)
    .sort((one, other) => one.kind - other.kind);

// Adds a counter's points, or the sums of a histogram's.
const sumOf = (name: string, matches: (attributes: Record<string, unknown>) => boolean = () => true): number => {
  const metrics = bodiesTo('/v1/metrics').flatMap((body) =>
    (decodeMetrics(body) as MetricsData).resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics)),
  );
  const points = metrics
    .filter((metric) => metric.name === name)
    // biome-ignore lint/suspicious/noExplicitAny: one of the kinds of metrics
    .flatMap((metric: any) => (metric.sum ?? metric.exponentialHistogram ?? metric.histogram).dataPoints);
  return points
    .filter(({ attributes }) => matches(plainAttributesOf(attributes)))
    .reduce((sum, { asInt, sum: total }) => sum + Number(asInt ?? total), 0);
};

const nanos = (ms: number): string => String(BigInt(ms) * 1_000_000n);

// Resolves when every place has the request.
const follow = async (id: string) => {
  await eventually(async () => (await get(`/v1/observability/requests/${id}`)).status === 200, 'the request is found');
  await eventually(async () => spansOf(id).length === 2, 'the spans of the request arrive');
  const event = (await run.eventsOf(keyId)).find(({ request_id }) => request_id === id) as UsageEvent;
  const request = (await get(`/v1/observability/requests/${id}`)).body;
  const timeline: string = (await get(`/v1/observability/requests/${id}?format=text`)).body;
  const row = (await get(`/v1/observability/requests?id=${id}`)).body.data[0];
  const [line] = (await run.logOf('inference'))
    .split('\n')
    .filter((text) => text.includes(id) && text.includes('"message":"request"'))
    .map((text) => JSON.parse(text));
  const [server, client] = spansOf(id) as [OtlpSpan, OtlpSpan];
  return { event, request, timeline, row, line, server, client };
};

const expectSameNumbers = ({ event, request, timeline, row, line, server, client }: Awaited<ReturnType<typeof follow>>): void => {
  const { prompt_tokens, cached_tokens, completion_tokens, duration_ms, time_to_first_token_ms, limiter, step_ends_ms = [] } = event;
  const cost = request.cost.total;
  expect(BigInt(Math.round(Number(cost) * 1e9))).toBe(event.cost_nanos);

  expect(request).toMatchObject({
    usage: { input_tokens: prompt_tokens, cached_tokens, output_tokens: completion_tokens },
    duration_ms,
    time_to_first_token_ms,
    limiter,
    target: { endpoint: event.endpoint, tries: event.tries ?? 1 },
    trace: { trace_id: TRACE_ID, parent_id: PARENT_ID },
  });
  expect(request.phases.at(-1).to_ms).toBe(duration_ms);
  for (const { name, from_ms, to_ms } of request.phases)
    expect(timeline).toMatch(new RegExp(`^${name.replace('_', ' ')} .* ${(to_ms - from_ms).toLocaleString('en-US')} ms$`, 'm'));
  expect(timeline).toContain(`${prompt_tokens} input tokens (${cached_tokens} cached), ${completion_tokens} output tokens`);
  expect(timeline).toContain(`$${cost} by ${event.price_version}`);

  expect(row).toMatchObject({
    id: event.request_id,
    input_tokens: prompt_tokens,
    cached_tokens,
    output_tokens: completion_tokens,
    cost,
    duration_ms,
    time_to_first_token_ms,
    metadata: { team: 'search' },
  });
  expect(line).toMatchObject({ key_id: keyId, cost_nanos: Number(event.cost_nanos), outcome: event.outcome });

  const arrived = BigInt(server.startTimeUnixNano) / 1_000_000n;
  expect(server).toMatchObject({
    traceId: TRACE_ID,
    parentSpanId: PARENT_ID,
    name: 'POST /v1/chat/completions',
    endTimeUnixNano: nanos(Number(arrived) + duration_ms),
  });
  const ended = STEPS.map((name, i) => ({ name, ms: step_ends_ms[i] })).filter(({ ms }) => typeof ms === 'number');
  expect(server.events).toEqual(ended.map(({ name, ms }) => ({ name, timeUnixNano: nanos(Number(arrived) + (ms as number)) })));
  expect(plainAttributesOf(server.attributes)).toMatchObject({
    'sluice.request.id': event.request_id,
    'sluice.api_key.id': keyId,
    'sluice.outcome': event.outcome,
    'sluice.cost_nanos': Number(event.cost_nanos),
    'sluice.price_version': event.price_version,
    'sluice.tries': event.tries ?? 1,
    'sluice.limiter.in_flight': limiter?.in_flight,
    'sluice.limiter.requests_left': limiter?.requests_left,
  });
  expect(client).toMatchObject({ traceId: TRACE_ID, parentSpanId: server.spanId, name: `chat ${run.model}` });
  expect(plainAttributesOf(client.attributes)).toMatchObject({
    'gen_ai.usage.input_tokens': prompt_tokens,
    'gen_ai.usage.output_tokens': completion_tokens,
    'gen_ai.usage.cache_read.input_tokens': cached_tokens,
    'sluice.endpoint': event.endpoint,
  });
};

describe('one request, followed by its id', () => {
  test('has the same numbers in the reply, event, request, search, log, spans and metrics', async () => {
    const { id, chunks } = await send('ann');
    const facts = await follow(id);
    expectSameNumbers(facts);
    const { event, request, server } = facts;
    const usage = chunks.at(-1)?.usage as Record<string, number>;
    expect(usage).toMatchObject({ prompt_tokens: event.prompt_tokens, completion_tokens: event.completion_tokens });
    expect(request).toMatchObject({ status: 200, outcome: 'completed', error: null, user: 'ann', ignored: ['speculation'] });
    expect(plainAttributesOf(server.attributes)['http.response.status_code']).toBe(200);

    const completed = (attributes: Record<string, unknown>): boolean => attributes['sluice.outcome'] === 'completed';
    await eventually(async () => sumOf('sluice.requests', completed) > 0, 'the metrics of the request arrive');
    expect(sumOf('sluice.requests', completed)).toBe(1);
    expect(sumOf('sluice.cost', completed)).toBe(Number(event.cost_nanos));
    expect(sumOf('gen_ai.client.inference.usage.input_tokens')).toBe(event.prompt_tokens);
    expect(sumOf('gen_ai.client.inference.usage.output_tokens')).toBe(event.completion_tokens);
    expect(sumOf('gen_ai.server.request.duration')).toBeCloseTo(event.duration_ms / 1_000, 9);

    const metrics = async () => (await get('/v1/observability/metrics')).body.series[0]?.totals;
    await eventually(async () => (await metrics())?.requests === 1, 'the request is counted');
    const totals = await metrics();
    expect(totals).toMatchObject({
      requests: 1,
      errors: {},
      input_tokens: event.prompt_tokens,
      cached_tokens: event.cached_tokens,
      output_tokens: event.completion_tokens,
      cost: request.cost.total,
    });
    const isWithin = (measured: number, exact: number): boolean => Math.abs(measured - exact) <= exact * 0.011 + 0.5;
    expect(isWithin(totals.duration_ms.p50, event.duration_ms)).toBe(true);
    expect(isWithin(totals.time_to_first_token_ms.p50, event.time_to_first_token_ms as number)).toBe(true);
  });

  test('keeps the error of a failed request as its caller saw it', async () => {
    await run.control('container', { fault: { kind: 'destroy', after_tokens: 3, times: 1 } });
    const { id, chunks } = await send('ben');
    const facts = await follow(id);
    expectSameNumbers(facts);
    const { event, request, timeline, row, server, client } = facts;
    const seen = chunks.at(-1)?.error as { message: string; code: string };
    expect(event).toMatchObject({ error_code: seen.code, error_message: seen.message });
    expect(request).toMatchObject({ outcome: 'upstream_failed', error: { status: 503, code: seen.code, message: seen.message } });
    expect(timeline).toContain(`503 ${seen.code} ${seen.message.slice(0, 40)}`);
    expect(row).toMatchObject({ status: 503, error_code: seen.code });
    for (const span of [server, client]) {
      expect(plainAttributesOf(span.attributes)['error.type']).toBe(seen.code);
      expect(span.status).toEqual({ code: 2, message: seen.message });
    }
  });
});
