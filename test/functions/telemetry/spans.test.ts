import { describe, expect, test } from '@jest/globals';
import { exportBodies } from '../../../functions/telemetry/export-bodies.ts';
import type { OtlpSpan } from '../../../functions/telemetry/otlp/wire.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { orphanedEvent, type UsageEvent } from '../../../shared/usage/event.ts';
import { decodeTraces } from '../../support/emulators/otlp-decoder.ts';
import { ARRIVED_AT, attributesOf, chatEvent, installation, interval } from './fixtures.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const bodyOf = (...events: UsageEvent[]): Buffer => exportBodies('traces', events, { installation, interval })[0] as Buffer;

// As a decoder of OTLP’s protos reads them.
const spansOf = (...events: UsageEvent[]): OtlpSpan[] =>
  decodeTraces(bodyOf(...events)).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

const nanos = (msFromArrival: number): string => `${ARRIVED_AT + msFromArrival}000000`;

describe('the spans of a request', () => {
  test('are the request with its steps as events, and in it the call to the model', () => {
    const event = chatEvent({ tries: 2 });
    const [server, client] = spansOf(event) as [OtlpSpan, OtlpSpan];
    expect(server).toMatchObject({
      name: 'POST /v1/chat/completions',
      kind: 2,
      startTimeUnixNano: nanos(0),
      endTimeUnixNano: nanos(500),
      events: ['parsed', 'admitted', 'fitted', 'invoked', 'accepted', 'answered'].map((name, i) => ({
        name,
        timeUnixNano: nanos([2, 9, 10, 12, 60, 490][i] as number),
      })),
      status: {},
    });
    expect(attributesOf(server.attributes)).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'url.scheme': 'https',
      'url.path': '/v1/chat/completions',
      'http.response.status_code': 200n,
      'sluice.request.id': event.request_id,
      'sluice.organization.id': 'org_1',
      'sluice.api_key.id': 'key_1',
      'sluice.outcome': 'completed',
      'sluice.stream': true,
      'sluice.cost_nanos': 1_234_567n,
      'sluice.price_version': 'v1',
      'sluice.tries': 2n,
      'sluice.limiter.in_flight': 3n,
      'sluice.limiter.concurrency': 10n,
      'sluice.limiter.requests_left': 57n,
      'sluice.limiter.tokens_left': 90_000n,
    });
    expect(client).toMatchObject({
      traceId: server.traceId,
      parentSpanId: server.spanId,
      name: 'chat llama-3.1-8b',
      kind: 3,
      startTimeUnixNano: nanos(12),
      endTimeUnixNano: nanos(490),
      events: [{ name: 'first_token', timeUnixNano: nanos(90) }],
      status: {},
    });
    expect(attributesOf(client.attributes)).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'aws.sagemaker',
      'gen_ai.request.model': 'llama-3.1-8b',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': 0.078,
      'gen_ai.usage.input_tokens': 120n,
      'gen_ai.usage.output_tokens': 41n,
      'gen_ai.usage.cache_read.input_tokens': 64n,
      'sluice.request.id': event.request_id,
      'sluice.endpoint': 'llama',
      'sluice.component': 'llama-1',
    });
  });

  test.each([
    ['/v1/embeddings', 'embeddings', false],
    ['/v1/rerank', 'rerank', false],
    ['/v2/rerank', 'rerank', false],
    ['/v1/completions', 'text_completion', true],
    ['/v1/messages', 'chat', true],
  ])('say of %s that its call to the model is %s, and whether it streams', (route, operation, streams) => {
    const [, client] = spansOf(chatEvent({ route, stream: false, time_to_first_token_ms: null })) as [OtlpSpan, OtlpSpan];
    expect(attributesOf(client.attributes)).toMatchObject({ 'gen_ai.operation.name': operation, 'gen_ai.request.stream': streams });
  });

  test("continue the caller's trace, and keep whether the caller samples it", () => {
    const [server, client] = spansOf(chatEvent({ traceparent: TRACEPARENT })) as [OtlpSpan, OtlpSpan];
    expect(server).toMatchObject({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', parentSpanId: '00f067aa0ba902b7', flags: 0x301 });
    expect(client).toMatchObject({ traceId: server.traceId, parentSpanId: server.spanId, flags: 0x101 });
    const [notSampled] = spansOf(chatEvent({ traceparent: TRACEPARENT.replace(/01$/, '00') }));
    expect(notSampled?.flags).toBe(0x300);
  });

  test('have the same ids whenever the request is exported, and other ids than other requests', () => {
    const event = chatEvent();
    const idsOf = (of: UsageEvent) => spansOf(of).map(({ traceId, spanId }) => ({ traceId, spanId }));
    expect(idsOf(event)).toEqual(idsOf({ ...event, duration_ms: 501 }));
    const all = [event, chatEvent()].flatMap(idsOf);
    expect(new Set(all.map(({ spanId }) => spanId)).size).toBe(4);
    expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(2);
    expect(spansOf(event)[0]).not.toHaveProperty('parentSpanId');
  });

  test.each([
    ['a call to a model that failed', { error_code: 'upstream_unavailable', error_status: 503 }, { http: 503n, server: 2, client: 2 }],
    [
      'a request that the model server rejected',
      { error_code: 'invalid_value', error_status: 400 },
      { http: 400n, server: undefined, client: 2 },
    ],
  ])('tell of %s', (_, error, expected) => {
    const event = chatEvent({
      ...error,
      outcome: 'upstream_failed',
      time_to_first_token_ms: null,
      error_message: 'The model is unavailable.',
    });
    const [server, client] = spansOf(event) as [OtlpSpan, OtlpSpan];
    expect(attributesOf(server.attributes)).toMatchObject({ 'http.response.status_code': expected.http, 'error.type': error.error_code });
    expect(attributesOf(client.attributes)).toMatchObject({ 'error.type': error.error_code });
    expect(attributesOf(client.attributes)).not.toHaveProperty(['gen_ai.response.time_to_first_chunk']);
    expect(server.status.code).toBe(expected.server);
    expect(client.status).toEqual({ code: expected.client, message: 'The model is unavailable.' });
  });

  test('have the status 200 for a stream that broke off after its first token', () => {
    const [server] = spansOf(chatEvent({ outcome: 'upstream_failed', error_code: 'upstream_failed', error_status: 503 }));
    expect(attributesOf(server?.attributes ?? [])).toMatchObject({ 'http.response.status_code': 200n, 'error.type': 'upstream_failed' });
    expect(server?.status.code).toBe(2);
  });

  test('have no error if the caller disconnects', () => {
    const spans = spansOf(chatEvent({ outcome: 'client_closed', finish_reason: null, step_ends_ms: [2, 9, 10, 12, 60, null] }));
    expect(spans.map(({ status }) => status)).toEqual([{}, {}]);
    expect(spans[1]?.endTimeUnixNano).toBe(nanos(500));
    for (const { attributes } of spans) expect(attributesOf(attributes)).not.toHaveProperty(['error.type']);
  });

  test('have no call to a model if none was made, or if the function crashed', () => {
    const crashed = orphanedEvent({
      requestId: newRequestId(ARRIVED_AT),
      keyId: 'key_1',
      orgId: 'org_1',
      projectId: undefined,
      admittedAtMs: ARRIVED_AT,
      nowMs: ARRIVED_AT + 900_000,
    });
    const [orphaned, ...none] = spansOf(crashed) as [OtlpSpan];
    expect(none).toEqual([]);
    expect(orphaned).toMatchObject({ name: 'POST', status: { code: 2 } });
    expect(attributesOf(orphaned.attributes)).toMatchObject({ 'error.type': 'orphaned' });
    expect(spansOf(chatEvent({ route: '/tokenize' }))).toHaveLength(1);
    expect(spansOf(chatEvent({ step_ends_ms: [2, 9, 10, null, null, null] }))).toHaveLength(1);
  });

  test.each([
    ['/v1/chat/completions', 'chat'],
    ['/v1/completions', 'text_completion'],
    ['/v1/responses', 'chat'],
    ['/v1/messages', 'chat'],
    ['/v2/rerank', 'rerank'],
  ])('have a call to the model for %s, with the operation %s', (route, operation) => {
    const [, client] = spansOf(chatEvent({ route })) as [OtlpSpan, OtlpSpan];
    expect(attributesOf(client.attributes)).toMatchObject({ 'gen_ai.operation.name': operation });
  });

  test('leave out what callers write: metadata and names of users', () => {
    expect(JSON.stringify(decodeTraces(bodyOf(chatEvent())))).not.toContain('canary');
  });

  test('name the installation, and the commit of the conventions', () => {
    const [{ resource, scopeSpans } = { resource: { attributes: [] }, scopeSpans: [] }] = decodeTraces(bodyOf(chatEvent())).resourceSpans;
    expect(attributesOf(resource.attributes)).toEqual({
      'service.name': 'sluice',
      'service.version': 'abc123',
      'cloud.provider': 'aws',
      'cloud.platform': 'aws_lambda',
      'cloud.region': 'eu-west-1',
    });
    expect(scopeSpans[0]?.scope.name).toBe('sluice');
    expect(attributesOf(scopeSpans[0]?.scope.attributes ?? [])).toEqual({
      'sluice.genai_conventions': expect.stringMatching(/^[0-9a-f]{40}$/),
    });
  });
});
