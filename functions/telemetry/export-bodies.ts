import { gzipSync } from 'node:zlib';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { CONVENTIONS_COMMIT } from './genai.ts';
import { metricsOf, type PointInterval } from './metrics.ts';
import { type Attributes, type InstrumentationScope, keyValuesOf, type MetricsData, type Resource, type TracesData } from './otlp/wire.ts';
import { spansOf } from './spans.ts';

export const SIGNALS = ['traces', 'metrics'] as const;
export type Signal = (typeof SIGNALS)[number];

/** The source of the telemetry. It includes the process, because the points of two processes must differ. */
export interface TelemetrySource {
  name: string;
  version: string;
  region: string;
  process: string;
}

/** SQS accepts at least 256 KiB, and base64 makes a body a third larger. */
export const MAX_BODY_BYTES = 180 * 1024;

const scope: InstrumentationScope = { name: 'sluice', attributes: keyValuesOf({ 'sluice.genai_conventions': CONVENTIONS_COMMIT }) };

const resourceOf = ({ name, version, region }: TelemetrySource, more: Attributes = {}): Resource => ({
  attributes: keyValuesOf({
    'service.name': name,
    'service.version': version,
    'cloud.provider': 'aws',
    'cloud.platform': 'aws_lambda',
    'cloud.region': region,
    ...more,
  }),
});

/** True for first ratings. A correction of a price is no request. */
export const isRequest = ({ rerate }: UsageEvent): boolean => rerate === undefined;

/** The spans of these requests. */
export const tracesOf = (events: readonly UsageEvent[], installation: TelemetrySource): TracesData => ({
  resourceSpans: [{ resource: resourceOf(installation), scopeSpans: [{ scope, spans: events.flatMap(spansOf) }] }],
});

/** The amounts that these requests add to each metric in an interval. */
export const metricsDataOf = (events: readonly UsageEvent[], installation: TelemetrySource, interval: PointInterval): MetricsData => ({
  resourceMetrics: [
    {
      resource: resourceOf(installation, { 'service.instance.id': installation.process }),
      scopeMetrics: [{ scope, metrics: metricsOf(events, interval) }],
    },
  ],
});

// A body that would be too large is split by events, and the interval of its metrics with it.
const bodiesOf = (
  events: readonly UsageEvent[],
  interval: PointInterval,
  maxBytes: number,
  bodyOf: (some: readonly UsageEvent[], within: PointInterval) => object,
): Buffer[] => {
  if (events.length === 0) return [];
  const body = gzipSync(JSON.stringify(bodyOf(events, interval)));
  if (body.length <= maxBytes || events.length === 1) return [body];
  const middle = events.length >> 1;
  const atNanos = (interval.startNanos + interval.endNanos) / 2n;
  return [
    ...bodiesOf(events.slice(0, middle), { ...interval, endNanos: atNanos }, maxBytes, bodyOf),
    ...bodiesOf(events.slice(middle), { ...interval, startNanos: atNanos }, maxBytes, bodyOf),
  ];
};

/** The bodies of the exports of a signal about these events: OTLP in JSON, compressed with gzip. */
export const exportBodies = (
  signal: Signal,
  events: readonly UsageEvent[],
  { installation, interval, maxBytes = MAX_BODY_BYTES }: { installation: TelemetrySource; interval: PointInterval; maxBytes?: number },
): Buffer[] =>
  bodiesOf(events, interval, maxBytes, (some, within) =>
    signal === 'traces' ? tracesOf(some, installation) : metricsDataOf(some, installation, within),
  );
