import * as z from 'zod';
import { dollarsOf } from '../prices/dollars.ts';
import { Nanos } from '../usage/event.ts';
import { MEASURES, PromiseFigures } from './promise.ts';

/** A promise that a month missed, and the credit for it. */
export const ServiceMiss = z.object({
  measure: z.enum(MEASURES),
  /** The threshold of the tier: a share such as `0.999`, milliseconds or seconds. */
  threshold: z.string(),
  /** The share of the charges that is credited, in percent: less than that of the tier if the most was reached. */
  percent: z.int(),
});
export type ServiceMiss = z.output<typeof ServiceMiss>;

// Counts of a model in a month.
const counts = {
  /** Requests that count: those that were answered, and those that failed by no fault of the caller. */
  answered: z.int(),
  failed: z.int(),
  /** Streams with a first token that did not wait for capacity, and the 95th percentile of their times to it. */
  first_tokens: z.int(),
  first_token_p95_ms: z.int().nullable(),
  /** Requests that waited for capacity, and the 95th percentile of their waits. */
  waits: z.int(),
  wait_p95_ms: z.int().nullable(),
};
export const LevelCounts = z.object(counts);
export type LevelCounts = z.output<typeof LevelCounts>;

/**
 * The service level of a shared model for an organization in a month, at rest. It is computed when the month is closed.
 */
export const ServiceLevel = z.object({
  model: z.string(),
  figures: PromiseFigures,
  ...counts,
  /** The charges for the model's requests of the month, and the part that was paid from prepaid credit. */
  charges_nanos: Nanos,
  prepaid_nanos: Nanos,
  misses: z.array(ServiceMiss),
});
export type ServiceLevel = z.output<typeof ServiceLevel>;

/**
 * A line of a credit note for service levels. `service_credit`: a promise that was missed. `tax`: the share of the
 * invoice's taxes. `rounding`: as of an invoice. `limit`: the part above what was left of the invoice, negative.
 */
export const CreditLine = z.object({
  kind: z.enum(['service_credit', 'tax', 'rounding', 'limit']),
  description: z.string(),
  model: z.string().nullable(),
  measure: z.enum(MEASURES).nullable(),
  threshold: z.string().nullable(),
  /** The requests that count for the measure; for availability, how many were answered; or else the 95th percentile. */
  requests: z.int().nullable(),
  answered: z.int().nullable(),
  p95_ms: z.int().nullable(),
  /** The charges of which a percentage is credited. */
  base_nanos: Nanos.nullable(),
  percent: z.int().nullable(),
  amount_nanos: Nanos,
});
export type CreditLine = z.output<typeof CreditLine>;

/** A line of a credit note as it goes out: amounts are dollars in text. */
export const CreditLineRecord = CreditLine.omit({ base_nanos: true, amount_nanos: true }).extend({
  base: z.string().nullable().meta({ description: "The charges for the model's requests of the month of which a part is credited." }),
  amount: z.string().meta({ description: 'What the line credits; negative for `limit`, and for rounding down.' }),
});
export type CreditLineRecord = z.infer<typeof CreditLineRecord>;

/** Converts a line of a credit note to the form in which it goes out. */
export const creditLineRecord = ({ base_nanos, amount_nanos, ...line }: CreditLine): CreditLineRecord => ({
  ...line,
  base: base_nanos === null ? null : dollarsOf(base_nanos),
  amount: dollarsOf(amount_nanos),
});
