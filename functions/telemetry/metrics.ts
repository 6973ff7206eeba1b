import { SECOND_MS } from '../../shared/time/units.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { clientAttributes, errorTypeOf, isEmbeddings, metricNames, operationOf, serverAttributes, tokenAttributes } from './genai.ts';
import { exponentialHistogram } from './otlp/exponential-histogram.ts';
import { type Attributes, DELTA, keyValuesOf, type Metric } from './otlp/wire.ts';
import { timesOf } from './request-times.ts';

/** The time of the events' points, in nanoseconds since the epoch. Intervals of one process never overlap. */
export interface PointInterval {
  startNanos: bigint;
  endNanos: bigint;
}

interface Instrument {
  name: string;
  description: string;
  unit: string;
  kind: 'sum' | 'histogram';
}

const seconds = (name: string, description: string): Instrument => ({ name, description, unit: 's', kind: 'histogram' });
const tokens = (name: string, description: string, kind: Instrument['kind']): Instrument => ({ name, description, unit: '{token}', kind });

const instruments = {
  requests: { name: 'sluice.requests', description: 'Admitted requests.', unit: '{request}', kind: 'sum' },
  cost: { name: 'sluice.cost', description: 'What requests cost, in billionths of a dollar.', unit: '{nano_dollar}', kind: 'sum' },
  duration: seconds(metricNames.serverDuration, 'From the arrival of a request to the end of its response.'),
  firstToken: seconds(metricNames.serverFirstToken, 'From the arrival of a successful request to its first token.'),
  perToken: seconds(metricNames.serverPerToken, 'For each output token of a successful request after the first.'),
  callDuration: seconds(metricNames.clientDuration, 'From the call to a model to the end of its answer.'),
  firstChunk: seconds(metricNames.clientFirstChunk, 'From the call to a model to the first chunk of its answer.'),
  input: tokens(metricNames.inputTokens, 'Input tokens, with cached ones.', 'sum'),
  output: tokens(metricNames.outputTokens, 'Output tokens.', 'sum'),
  cached: tokens(metricNames.cachedTokens, 'Input tokens that the model server had cached.', 'sum'),
  inputEach: tokens(metricNames.inputTokensEach, 'Input tokens of each request.', 'histogram'),
  outputEach: tokens(metricNames.outputTokensEach, 'Output tokens of each request.', 'histogram'),
  embeddingsDuration: seconds(metricNames.embeddingsDuration, 'From the calls to a model for embeddings to the end of its answers.'),
  embeddingsInputEach: tokens(metricNames.embeddingsInputTokensEach, 'Input tokens of each request for embeddings.', 'histogram'),
} as const satisfies Record<string, Instrument>;

// Money is exact, so sums are bigints.
const createMeasurements = () => {
  const series = new Map<Instrument, Map<string, { attributes: Attributes; values: number[]; total: bigint }>>();
  return {
    record(instrument: Instrument, attributes: Attributes, value: number | bigint): void {
      const ofInstrument = series.get(instrument) ?? new Map();
      series.set(instrument, ofInstrument);
      const key = JSON.stringify(attributes);
      const one = ofInstrument.get(key) ?? { attributes, values: [], total: 0n };
      ofInstrument.set(key, one);
      if (instrument.kind === 'sum') one.total += BigInt(value);
      else one.values.push(Number(value));
    },
    toMetrics({ startNanos, endNanos }: PointInterval): Metric[] {
      const times = { startTimeUnixNano: String(startNanos), timeUnixNano: String(endNanos) };
      return [...series].map(([{ name, description, unit, kind }, ofInstrument]) => {
        const of = [...ofInstrument.values()].map((one) => ({ ...one, point: { attributes: keyValuesOf(one.attributes), ...times } }));
        if (kind === 'histogram') {
          const dataPoints = of.map(({ point, values }) => ({ ...point, ...exponentialHistogram(values) }));
          return { name, description, unit, exponentialHistogram: { dataPoints, aggregationTemporality: DELTA } };
        }
        const dataPoints = of.map(({ point, total }) => ({ ...point, asInt: String(total) }));
        return { name, description, unit, sum: { dataPoints, aggregationTemporality: DELTA, isMonotonic: true } };
      });
    },
  };
};
type Measurements = ReturnType<typeof createMeasurements>;

const recordOperation = ({ record }: Measurements, event: UsageEvent, errorType: string | undefined): void => {
  const of = operationOf(event);
  if (of === undefined) return;
  const { duration_ms, time_to_first_token_ms: firstTokenMs, prompt_tokens, completion_tokens, cached_tokens } = event;
  const server = serverAttributes(of);
  const client = clientAttributes(of);
  const { call, steps } = timesOf(event);
  record(instruments.duration, { ...server, 'error.type': errorType }, duration_ms / SECOND_MS);
  if (errorType === undefined && firstTokenMs !== null) {
    record(instruments.firstToken, server, firstTokenMs / SECOND_MS);
    const answeredMs = steps.find(({ step }) => step === 'answered')?.ms;
    if (answeredMs !== undefined && completion_tokens > 1)
      record(instruments.perToken, server, Math.max(0, answeredMs - firstTokenMs) / SECOND_MS / (completion_tokens - 1));
  }
  // Failed requests have a series of their own, because most of them have no tokens.
  const ended = { ...client, 'error.type': errorType };
  const callSeconds = call && (call.toMs - call.fromMs) / SECOND_MS;
  if (isEmbeddings(of)) {
    if (callSeconds !== undefined) record(instruments.embeddingsDuration, ended, callSeconds);
    record(instruments.embeddingsInputEach, ended, prompt_tokens);
    return;
  }
  if (callSeconds !== undefined) record(instruments.callDuration, ended, callSeconds);
  if (call?.firstChunkMs !== undefined) record(instruments.firstChunk, client, call.firstChunkMs / SECOND_MS);
  const ofTokens = tokenAttributes(of);
  record(instruments.input, ofTokens, prompt_tokens);
  record(instruments.output, ofTokens, completion_tokens);
  record(instruments.cached, ofTokens, cached_tokens);
  record(instruments.inputEach, ended, prompt_tokens);
  record(instruments.outputEach, ended, completion_tokens);
};

/** The metrics of these events. */
export const metricsOf = (events: readonly UsageEvent[], interval: PointInterval): Metric[] => {
  const measurements = createMeasurements();
  for (const event of events) {
    const errorType = errorTypeOf(event);
    const attributes = { 'http.route': event.route, 'sluice.model': event.model, 'sluice.outcome': event.outcome, 'error.type': errorType };
    measurements.record(instruments.requests, attributes, 1);
    measurements.record(instruments.cost, attributes, event.cost_nanos);
    recordOperation(measurements, event, errorType);
  }
  return measurements.toMetrics(interval);
};
