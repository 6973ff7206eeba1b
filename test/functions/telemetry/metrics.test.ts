import { describe, expect, test } from '@jest/globals';
import { exportBodies } from '../../../functions/telemetry/export-bodies.ts';
import type { HistogramPoint, SumPoint } from '../../../functions/telemetry/otlp/wire.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { decodeMetrics } from '../../support/emulators/otlp-decoder.ts';
import { attributesOf, chatEvent, installation, interval } from './fixtures.ts';

// As a decoder of OTLP’s protos reads them.
const pointsOf = (events: readonly UsageEvent[]): Record<string, readonly (SumPoint | HistogramPoint)[]> => {
  const [body] = exportBodies('metrics', events, { installation, interval });
  const { resourceMetrics } = decodeMetrics(body as Buffer);
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: some }) => some));
  return Object.fromEntries(
    metrics.map(({ name, sum, exponentialHistogram }) => {
      expect((sum ?? exponentialHistogram)?.aggregationTemporality).toBe(1);
      return [name, sum?.dataPoints ?? exponentialHistogram?.dataPoints ?? []];
    }),
  );
};

const ofModel = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'llama-3.1-8b' };

describe('metricsOf', () => {
  test('counts the durations, tokens and cost of a batch’s events', () => {
    const points = pointsOf([chatEvent(), chatEvent({ duration_ms: 1_000, prompt_tokens: 30, completion_tokens: 9, cached_tokens: 0 })]);
    const summary = (name: string) =>
      points[name]?.map((point) => ({
        ...attributesOf(point.attributes),
        ...('count' in point ? { count: point.count, sum: point.sum } : { value: point.asInt }),
      }));
    const server = { ...ofModel, 'gen_ai.provider.name': 'sluice' };
    const client = { ...ofModel, 'gen_ai.provider.name': 'aws.sagemaker' };
    const ofTokens = { ...client, 'gen_ai.token.modality': 'text' };
    const request = { 'http.route': '/v1/chat/completions', 'sluice.model': 'llama-3.1-8b', 'sluice.outcome': 'completed' };
    expect(Object.fromEntries(Object.keys(points).map((name) => [name, summary(name)]))).toEqual({
      'sluice.requests': [{ ...request, value: '2' }],
      'sluice.cost': [{ ...request, value: '2469134' }],
      'gen_ai.server.request.duration': [{ ...server, count: '2', sum: 1.5 }],
      'gen_ai.server.time_to_first_token': [{ ...server, count: '2', sum: 0.18 }],
      'gen_ai.server.time_per_output_token': [{ ...server, count: '2', sum: expect.closeTo(0.4 / 40 + 0.4 / 8, 10) }],
      'gen_ai.client.inference.duration': [{ ...client, count: '2', sum: 0.956 }],
      'gen_ai.client.inference.time_to_first_chunk': [{ ...client, count: '2', sum: 0.156 }],
      'gen_ai.client.inference.usage.input_tokens': [{ ...ofTokens, value: '150' }],
      'gen_ai.client.inference.usage.output_tokens': [{ ...ofTokens, value: '50' }],
      'gen_ai.client.inference.usage.cache_read.input_tokens': [{ ...ofTokens, value: '64' }],
      'gen_ai.client.inference.operation.input_tokens': [{ ...client, count: '2', sum: 150 }],
      'gen_ai.client.inference.operation.output_tokens': [{ ...client, count: '2', sum: 50 }],
    });
    for (const point of Object.values(points).flat())
      expect(point).toMatchObject({ startTimeUnixNano: String(interval.startNanos), timeUnixNano: String(interval.endNanos) });
  });

  test('measures calls for embeddings under names of their own, as the conventions do', () => {
    const embeddings = chatEvent({
      route: '/v1/embeddings',
      stream: false,
      completion_tokens: 0,
      cached_tokens: 0,
      time_to_first_token_ms: null,
      finish_reason: null,
    });
    const points = pointsOf([chatEvent(), embeddings]);
    const summary = (name: string) =>
      points[name]?.map((point) => [attributesOf(point.attributes)['gen_ai.operation.name'], 'sum' in point ? point.sum : point.asInt]);
    expect(summary('gen_ai.client.embeddings.duration')).toEqual([['embeddings', 0.478]]);
    expect(summary('gen_ai.client.embeddings.operation.input_tokens')).toEqual([['embeddings', 120]]);
    expect(summary('gen_ai.client.inference.usage.input_tokens')).toEqual([['chat', '120']]);
    const inference = Object.keys(points).filter((name) => name.startsWith('gen_ai.client.inference.'));
    expect(inference.flatMap((name) => summary(name)?.map(([operation]) => operation))).not.toContain('embeddings');
    expect(summary('gen_ai.server.request.duration')).toEqual([
      ['chat', 0.5],
      ['embeddings', 0.5],
    ]);
  });

  test('separates failed requests, and measures no first token of them', () => {
    const failed = chatEvent({ outcome: 'upstream_failed', error_code: 'upstream_failed', error_status: 503 });
    const points = pointsOf([chatEvent(), failed]);
    expect(points['sluice.requests']?.map(({ attributes }) => attributesOf(attributes)['error.type'])).toEqual([
      undefined,
      'upstream_failed',
    ]);
    expect(points['gen_ai.server.request.duration']).toHaveLength(2);
    expect(points['gen_ai.server.time_to_first_token']).toMatchObject([{ count: '1' }]);
  });

  test('separates the tokens of failed requests, so that they lower no percentile of the others', () => {
    const failed = chatEvent({
      outcome: 'upstream_failed',
      error_code: 'upstream_error',
      error_status: 503,
      prompt_tokens: 0,
      cached_tokens: 0,
      completion_tokens: 0,
    });
    const points = pointsOf([chatEvent(), failed]);
    for (const name of ['input_tokens', 'output_tokens'])
      expect(
        points[`gen_ai.client.inference.operation.${name}`]?.map((point) => ({
          error: attributesOf(point.attributes)['error.type'],
          ...('min' in point && { min: point.min }),
        })),
      ).toEqual([
        { error: undefined, min: name === 'input_tokens' ? 120 : 41 },
        { error: 'upstream_error', min: 0 },
      ]);
  });

  test('names no keys, organizations or requests, whose number has no bound', () => {
    const names = Object.values(pointsOf([chatEvent()]))
      .flat()
      .flatMap(({ attributes }) => Object.keys(attributesOf(attributes)));
    expect(new Set(names)).toEqual(
      new Set([
        'http.route',
        'sluice.model',
        'sluice.outcome',
        'gen_ai.operation.name',
        'gen_ai.provider.name',
        'gen_ai.request.model',
        'gen_ai.token.modality',
      ]),
    );
  });

  test('counts a request once, although a rerate adds an event to it', () => {
    const event = chatEvent();
    const events = [event, { ...event, request_id: `${event.request_id}#2`, rerate: { id: 'rr_1', from: 'v1' } }];
    expect(pointsOf(events.filter(({ rerate }) => rerate === undefined))['sluice.requests']).toMatchObject([{ asInt: '1' }]);
  });
});
