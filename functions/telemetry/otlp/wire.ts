/**
 * The JSON encoding of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids in hexadecimal,
 * 64-bit integers as text, and enumerations as numbers.
 */
export type AnyValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: AnyValue[] } };

export interface KeyValue {
  key: string;
  value: AnyValue;
}

/**
 * A number without a fraction is sent as an integer, and `seconds` as a floating-point number, as durations must be.
 */
export type Attribute = string | boolean | number | bigint | readonly string[] | { seconds: number };
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

const anyValueOf = (attribute: Attribute): AnyValue => {
  switch (typeof attribute) {
    case 'string':
      return { stringValue: attribute };
    case 'boolean':
      return { boolValue: attribute };
    case 'number':
    case 'bigint':
      return { intValue: attribute.toString() };
  }
  return 'seconds' in attribute
    ? { doubleValue: attribute.seconds }
    : { arrayValue: { values: attribute.map((stringValue) => ({ stringValue })) } };
};

/** Leaves out undefined attributes. */
export const keyValuesOf = (attributes: Attributes): KeyValue[] =>
  Object.entries(attributes).flatMap(([key, attribute]) => (attribute === undefined ? [] : [{ key, value: anyValueOf(attribute) }]));

/** A time in ms since the epoch. */
export const nanosOf = (ms: number): string => `${ms}000000`;

export interface Resource {
  attributes: KeyValue[];
}

/** The source of the telemetry: this project, with the version of the conventions that it follows. */
export interface InstrumentationScope {
  name: string;
  attributes: KeyValue[];
}

export const SpanKind = { server: 2, client: 3 } as const;
export const StatusCode = { error: 2 } as const;

export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  flags: number;
  name: string;
  kind: (typeof SpanKind)[keyof typeof SpanKind];
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  events: { timeUnixNano: string; name: string }[];
  status: { code?: number; message?: string };
}

export const DELTA = 1;

interface Point {
  attributes: KeyValue[];
  startTimeUnixNano: string;
  timeUnixNano: string;
}

export interface SumPoint extends Point {
  asInt: string;
}

export interface HistogramPoint extends Point {
  count: string;
  sum: number;
  min: number;
  max: number;
  scale: number;
  zeroCount: string;
  positive: { offset: number; bucketCounts: string[] };
}

export interface Metric {
  name: string;
  description: string;
  unit: string;
  sum?: { dataPoints: SumPoint[]; aggregationTemporality: typeof DELTA; isMonotonic: true };
  exponentialHistogram?: { dataPoints: HistogramPoint[]; aggregationTemporality: typeof DELTA };
}

/** The body of an export of spans. */
export interface TracesData {
  resourceSpans: { resource: Resource; scopeSpans: { scope: InstrumentationScope; spans: OtlpSpan[] }[] }[];
}

/** The body of an export of metrics. */
export interface MetricsData {
  resourceMetrics: { resource: Resource; scopeMetrics: { scope: InstrumentationScope; metrics: Metric[] }[] }[];
}
