import * as z from 'zod';
import { exactInteger } from '../../../../shared/http/json/json-numbers.ts';
import { MAX_MINUTE_ROWS, type NewestMinute } from '../../../../shared/observability/newest-minute.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { sumOfCounts } from '../../../../shared/usage/counts.ts';
import { type Histogram, quantiles } from '../../../../shared/usage/histogram.ts';
import type { Totals } from '../../../../shared/usage/totals.ts';

// An integer of any size: sums of tokens are bigints.
const Tokens = z.unknown().meta({ type: 'integer', minimum: 0 });
const Latencies = z
  .object({ p50: z.number(), p99: z.number() })
  .nullable()
  .meta({ description: 'In milliseconds, at most 1.1 % too high or too low. Null without requests.' });

const values = {
  requests: z.int().meta({ description: 'Admitted requests that arrived in this minute, have ended and were counted.' }),
  errors: z.int().meta({ description: 'Those whose caller received an error.' }),
  input_tokens: Tokens,
  output_tokens: Tokens,
  duration_ms: Latencies,
  time_to_first_token_ms: Latencies,
};

export const Now = z.object({
  object: z.literal('observability.now'),
  start_time: z.int().nullable().meta({
    description: 'The start of the newest minute with usage (Unix seconds). Null: there was none in the last four minutes.',
  }),
  refresh_seconds: z.int().meta({ description: 'The number of seconds to wait before the next call.' }),
  rows: z
    .array(
      z.object({
        organization: z.string(),
        model: z.string().nullable(),
        api_key_id: z.string(),
        ...values,
        in_flight: z.int().meta({ description: 'All requests of the API key that are in progress now, whatever their model.' }),
      }),
    )
    .max(MAX_MINUTE_ROWS)
    .meta({ description: 'By model and API key, most requests first.' }),
  others: z.int().meta({ description: 'The number of rows that are left out. `totals` includes them.' }),
  totals: z.object(values),
  is_partial: z.boolean().meta({ description: 'If true, there are more organizations than were read. Name one to see it.' }),
});
export type Now = z.infer<typeof Now>;

const MS_DECIMALS = 3;

const latenciesOf = (histogram: Histogram): z.infer<typeof Latencies> => {
  const [p50, p99] = (quantiles(histogram, [0.5, 0.99]) ?? []).map((ms) => Number(ms.toFixed(MS_DECIMALS)));
  return p50 === undefined || p99 === undefined ? null : { p50, p99 };
};

const valuesOf = (totals: Totals): z.infer<z.ZodObject<typeof values>> => ({
  requests: totals.requests,
  errors: sumOfCounts(totals.errors),
  input_tokens: exactInteger(totals.prompt_tokens),
  output_tokens: exactInteger(totals.completion_tokens),
  duration_ms: latenciesOf(totals.duration_ms),
  time_to_first_token_ms: latenciesOf(totals.time_to_first_token_ms),
});

/** Converts a minute to the wire. */
export const nowOf = ({ startMs, rows, others, whole, isPartial }: NewestMinute, refreshSeconds: number): Now => ({
  object: 'observability.now',
  start_time: startMs === undefined ? null : startMs / SECOND_MS,
  refresh_seconds: refreshSeconds,
  rows: rows.map(({ organization, model, keyId, totals, inFlight }) => ({
    organization,
    model,
    api_key_id: keyId,
    ...valuesOf(totals),
    in_flight: inFlight,
  })),
  others,
  totals: valuesOf(whole),
  is_partial: isPartial,
});
