import * as z from 'zod';
import { Outcome } from './event.ts';
import { StoredHistogram, storedHistogram } from './stored-histogram.ts';
import type { Totals } from './totals.ts';

const Count = z.int().min(0);
// A sum at rest: a number, or a bigint if a number would not be exact.
const Sum = z.union([z.int(), z.bigint()]).transform(BigInt);
// Earlier versions did not store these.
const LaterCount = Count.default(0);
const LaterSum = z.union([z.int(), z.bigint()]).default(0).transform(BigInt);

/** Totals as they are stored: counts are maps by name, and histograms are bytes. */
export const StoredTotals = z
  .object({
    n: Count,
    requests: Count,
    prompt_tokens: Sum,
    cached_tokens: Sum,
    completion_tokens: Sum,
    cost_nanos: Sum,
    prepaid_nanos: Sum,
    capped: Count,
    estimated: Count,
    fallbacks: LaterCount,
    outcomes: z.partialRecord(Outcome, Count).transform((counts) => new Map(Object.entries(counts) as [Outcome, number][])),
    errors: z.record(z.string(), Count).transform((counts) => new Map(Object.entries(counts))),
    duration_ms: StoredHistogram,
    time_to_first_token_ms: StoredHistogram,
    duration_ms_sum: LaterSum,
    prompt_ms_sum: LaterSum,
    generation_ms_sum: LaterSum,
    generation_tokens: LaterSum,
  })
  .transform(({ n, ...totals }): Totals => ({ events: n, ...totals }));

/** The attributes of a row; `n` is the number of events. */
export const storedTotals = ({ events, fallbacks, ...totals }: Totals) => ({
  ...totals,
  ...(fallbacks > 0 && { fallbacks }),
  n: events,
  outcomes: Object.fromEntries(totals.outcomes),
  errors: Object.fromEntries(totals.errors),
  duration_ms: storedHistogram(totals.duration_ms),
  time_to_first_token_ms: storedHistogram(totals.time_to_first_token_ms),
});
