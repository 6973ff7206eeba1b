import { gunzipSync } from 'node:zlib';
import { expect } from '@jest/globals';
import root from '@opentelemetry/otlp-transformer/build/src/generated/root.js';
import type { MetricsData, TracesData } from '../../../functions/telemetry/otlp/wire.ts';

// As protobufjs generates them from the protos of OTLP.
interface MessageType {
  fromObject(object: Record<string, unknown>): unknown;
  verify(message: unknown): string | null;
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
  toObject(message: unknown, options: object): Record<string, unknown>;
}

// The package's own type of this file has another shape.
const { collector } = (root as unknown as { opentelemetry: { proto: { collector: Record<string, { v1: Record<string, MessageType> }> } } })
  .opentelemetry.proto;

// OTLP's JSON has these fields in hexadecimal, where JSON of protocol buffers has base64.
const IDS: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);

const mapIds = (value: unknown, convert: (id: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((element) => mapIds(element, convert));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, IDS.has(name) ? convert(of) : mapIds(of, convert)]));
};

// Protocol buffers don't tell an empty array from none.
const withoutEmptyArrays = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutEmptyArrays);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, of]) => !Array.isArray(of) || of.length > 0);
  return Object.fromEntries(kept.map(([name, of]) => [name, withoutEmptyArrays(of)]));
};

// Writes the body in the binary encoding and back, as a receiver generated from OTLP's protos would. Fields that the
// protos don't have would be missing afterwards.
const decode = (type: MessageType, body: Buffer): Record<string, unknown> => {
  const sent = JSON.parse(gunzipSync(body).toString()) as Record<string, unknown>;
  const toBytes = (id: unknown): Uint8Array => {
    expect(id).toMatch(/^([0-9a-f]{16}|[0-9a-f]{32})$/);
    return new Uint8Array(Buffer.from(String(id), 'hex'));
  };
  const message = type.fromObject(mapIds(sent, toBytes) as Record<string, unknown>);
  expect(type.verify(message)).toBeNull();
  const object = type.toObject(type.decode(type.encode(message).finish()), { longs: String, enums: Number });
  const decoded = mapIds(object, (bytes) => Buffer.from(bytes as Uint8Array).toString('hex'));
  expect(decoded).toEqual(withoutEmptyArrays(sent));
  return decoded as Record<string, unknown>;
};

/** The spans of an export. */
export const decodeTraces = (body: Buffer): TracesData =>
  decode(collector.trace?.v1.ExportTraceServiceRequest as MessageType, body) as unknown as TracesData;

/** The metrics of an export. */
export const decodeMetrics = (body: Buffer): MetricsData =>
  decode(collector.metrics?.v1.ExportMetricsServiceRequest as MessageType, body) as unknown as MetricsData;
