import { hash } from 'node:crypto';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { errorTypeOf, inferenceSpanAttributes, inferenceSpanName, operationOf } from './genai.ts';
import { type Attributes, keyValuesOf, nanosOf, type OtlpSpan, SpanKind, StatusCode } from './otlp/wire.ts';
import { type RequestTimes, timesOf } from './request-times.ts';

// Bits of a span's flags: the parent's process is known, and it is another one.
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;
const SAMPLED = 1;

const OK = 200;
const FIRST_SERVER_ERROR = 500;

const TRACE_ID_CHARACTERS = 32;
const SPAN_ID_CHARACTERS = 16;

// Derived from the request's id, so that a request that is exported again has the same spans.
const spanIdOf = (requestId: string, span: 'server' | 'client'): string =>
  hash('sha256', `${span} ${requestId}`).slice(0, SPAN_ID_CHARACTERS);

const traceOf = ({ request_id, traceparent }: UsageEvent): { traceId: string; parentSpanId?: string; sampled: number } => {
  if (traceparent === undefined) return { traceId: hash('sha256', request_id).slice(0, TRACE_ID_CHARACTERS), sampled: SAMPLED };
  const [, traceId = '', parentSpanId = '', flags = ''] = traceparent.split('-');
  return { traceId, parentSpanId, sampled: Number.parseInt(flags, 16) & SAMPLED };
};

// After the first token, the stream's status was sent. Undefined without a response, or if it is unknown.
const httpStatusOf = ({ stream, time_to_first_token_ms, error_status, outcome }: UsageEvent): number | undefined => {
  if (stream && time_to_first_token_ms !== null) return OK;
  return error_status ?? (outcome === 'completed' ? OK : undefined);
};

// The message is the one that the caller received.
const failed = ({ error_message }: UsageEvent): OtlpSpan['status'] => ({
  code: StatusCode.error,
  ...(error_message !== undefined && { message: error_message }),
});

// No convention has names for these facts. They have no content: no metadata, and no names of users.
const ownAttributes = (event: UsageEvent): Attributes => ({
  'sluice.request.id': event.request_id,
  'sluice.organization.id': event.org_id,
  'sluice.api_key.id': event.key_id,
  'sluice.outcome': event.outcome,
  'sluice.stream': event.stream,
  'sluice.cost_nanos': event.cost_nanos,
  'sluice.price_version': event.price_version ?? undefined,
  'sluice.tries': event.endpoint === undefined ? undefined : (event.tries ?? 1),
  'sluice.fallback': event.fallback,
  'sluice.limiter.in_flight': event.limiter?.in_flight,
  'sluice.limiter.concurrency': event.limiter?.concurrency,
  'sluice.limiter.requests_left': event.limiter?.requests_left,
  'sluice.limiter.tokens_left': event.limiter?.tokens_left,
});

const serverSpan = (event: UsageEvent, { arrivedAtMs, steps }: RequestTimes): OtlpSpan => {
  const { traceId, parentSpanId, sampled } = traceOf(event);
  const errorType = errorTypeOf(event);
  // A wrong request of the caller is no error of the server
  // (https://opentelemetry.io/docs/specs/semconv/http/http-spans/#status).
  const isOurs = errorType !== undefined && (event.error_status ?? FIRST_SERVER_ERROR) >= FIRST_SERVER_ERROR;
  return {
    traceId,
    spanId: spanIdOf(event.request_id, 'server'),
    ...(parentSpanId !== undefined && { parentSpanId }),
    flags: sampled | HAS_IS_REMOTE | (parentSpanId === undefined ? 0 : IS_REMOTE),
    name: event.route === undefined ? 'POST' : `POST ${event.route}`,
    kind: SpanKind.server,
    startTimeUnixNano: nanosOf(arrivedAtMs),
    endTimeUnixNano: nanosOf(arrivedAtMs + event.duration_ms),
    attributes: keyValuesOf({
      'http.request.method': 'POST',
      'http.route': event.route,
      'url.scheme': 'https',
      'url.path': event.route,
      'http.response.status_code': httpStatusOf(event),
      'error.type': errorType,
      ...ownAttributes(event),
    }),
    events: steps.map(({ step, ms }) => ({ timeUnixNano: nanosOf(arrivedAtMs + ms), name: step })),
    status: isOurs ? failed(event) : {},
  };
};

const clientSpan = (event: UsageEvent, { arrivedAtMs, call }: RequestTimes): OtlpSpan | undefined => {
  const operation = operationOf(event);
  if (operation === undefined || call === undefined) return undefined;
  const { traceId, sampled } = traceOf(event);
  const errorType = errorTypeOf(event);
  const { fromMs, toMs, firstChunkMs } = call;
  return {
    traceId,
    spanId: spanIdOf(event.request_id, 'client'),
    parentSpanId: spanIdOf(event.request_id, 'server'),
    flags: sampled | HAS_IS_REMOTE,
    name: inferenceSpanName(operation),
    kind: SpanKind.client,
    startTimeUnixNano: nanosOf(arrivedAtMs + fromMs),
    endTimeUnixNano: nanosOf(arrivedAtMs + toMs),
    attributes: keyValuesOf({
      ...inferenceSpanAttributes(event, operation, firstChunkMs),
      'error.type': errorType,
      'sluice.request.id': event.request_id,
      'sluice.endpoint': event.endpoint,
      'sluice.component': event.component,
    }),
    events: firstChunkMs === undefined ? [] : [{ timeUnixNano: nanosOf(arrivedAtMs + fromMs + firstChunkMs), name: 'first_token' }],
    status: errorType === undefined ? {} : failed(event),
  };
};

/** The spans of a request: the request itself, with its steps as events, and in it the call to the model. */
export const spansOf = (event: UsageEvent): OtlpSpan[] => {
  const times = timesOf(event);
  const client = clientSpan(event, times);
  return client ? [serverSpan(event, times), client] : [serverSpan(event, times)];
};
