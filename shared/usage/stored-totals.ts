import * as z from 'zod';
import { StoredInteger } from '../database/stored-integer.ts';
import { Outcome } from './event.ts';
import { StoredHistogram, storedHistogram } from './stored-histogram.ts';
import type { Totals } from './totals.ts';

const Count = z.int().min(0);
// Earlier versions did not store these.
const LaterCount = Count.default(0);
const LaterSum = StoredInteger.default(0n);

/** Totals as they are stored: counts are maps by name, and histograms are bytes. */
export const StoredTotals = z
  .object({
    n: Count,
    requests: Count,
    prompt_tokens: StoredInteger,
    cached_tokens: StoredInteger,
    completion_tokens: StoredInteger,
    cost_nanos: StoredInteger,
    prepaid_nanos: StoredInteger,
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
