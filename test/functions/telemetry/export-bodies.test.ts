import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { exportBodies, MAX_BODY_BYTES, metricsDataOf, tracesOf } from '../../../functions/telemetry/export-bodies.ts';
import { decodeMetrics, decodeTraces } from '../../support/emulators/otlp-decoder.ts';
import { chatEvent, installation, interval } from './fixtures.ts';

const events = Array.from({ length: 40 }, () => chatEvent());

describe('exportBodies', () => {
  test('splits bodies until each fits into a message, and loses no span', () => {
    const maxBytes = gzipSync(JSON.stringify(tracesOf(events, installation))).length >> 2;
    const bodies = exportBodies('traces', events, { installation, interval, maxBytes });
    expect(bodies.length).toBeGreaterThan(4);
    for (const { length } of bodies) expect(length).toBeLessThanOrEqual(maxBytes);
    const spans = bodies.flatMap((body) => decodeTraces(body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0]?.spans ?? []));
    expect(spans).toEqual(tracesOf(events, installation).resourceSpans[0]?.scopeSpans[0]?.spans);
  });

  test('gives the parts of split metrics consecutive intervals', () => {
    const maxBytes = gzipSync(JSON.stringify(metricsDataOf(events, installation, interval))).length - 1;
    const times = exportBodies('metrics', events, { installation, interval, maxBytes }).map((body) => {
      const [requests] = decodeMetrics(body).resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
      return requests?.sum?.dataPoints[0];
    });
    expect(times.length).toBeGreaterThan(1);
    expect(times[0]?.startTimeUnixNano).toBe(String(interval.startNanos));
    expect(times.at(-1)?.timeUnixNano).toBe(String(interval.endNanos));
    for (const [i, point] of times.slice(1).entries()) expect(point?.startTimeUnixNano).toBe(times[i]?.timeUnixNano);
    expect(times.reduce((sum, point) => sum + Number(point?.asInt), 0)).toBe(events.length);
  });

  test('makes few messages of a full batch', () => {
    const batch = Array.from({ length: 1_000 }, () => chatEvent({ error_message: 'The model is unavailable. '.repeat(12).slice(0, 300) }));
    const bodies = exportBodies('traces', batch, { installation, interval });
    expect(bodies.length).toBeLessThanOrEqual(4);
    for (const { length } of bodies) expect(length).toBeLessThanOrEqual(MAX_BODY_BYTES);
  });
});
