import * as z from 'zod';
import { StoredInteger } from '../database/stored-integer.ts';
import { Nanos } from '../usage/event.ts';

/** Sums of a UTC day's events as they were billed, and the file with the events' amounts. It never changes. */
export const BilledDay = z.object({
  /** Usage events, and their cost. */
  events: z.int().min(0),
  cost_nanos: Nanos,
  /** GPU time in seconds × instances, and its cost. */
  gpu_seconds: StoredInteger,
  gpu_cost_nanos: Nanos,
  /** The hash of the file, which its key contains; null if the day has no events, and so no file. */
  sha256: z.string().nullable(),
});
export type BilledDay = z.output<typeof BilledDay>;

/** Sums of a UTC day that is partly read: the sources up to one of them, in the order of their ids. */
export const PartOfDay = BilledDay.extend({
  /** The last API key or deployment that was read. */
  after: z.string(),
  /** The number of sources that were read, also without events. */
  sources: z.int().min(1),
});
export type PartOfDay = z.output<typeof PartOfDay>;

/** Sums of a closed month that all its invoices together bill: each of its days as it was read last. */
export const BilledMonth = z.object({
  organization: z.string(),
  month: z.string(),
  days: z.record(z.string(), BilledDay),
  /** The last invoice that changed it; null if the month has no invoice, because there was nothing to bill. */
  invoice: z.string().nullable(),
  /**
   * Days that an invoice had billed differently before it became void. The next invoice reads them, because their
   * totals may be too old to differ.
   */
  suspected: z.array(z.string()).default([]),
  version: z.int().min(1),
});
export type BilledMonth = z.output<typeof BilledMonth>;

/** A billed month before an invoice changed it; null: it was not billed. */
export const ReplacedMonth = z.object({ month: z.string(), before: BilledMonth.nullable() });
export type ReplacedMonth = z.output<typeof ReplacedMonth>;

/** The last month that is billed for an organization, and its carry-forward. */
export const BillingState = z.object({
  /** Null: no month was closed. */
  last_closed_month: z.string().nullable(),
  /** The next invoice credits this, because the last ones were negative: 0 or less. */
  carried_forward_nanos: Nanos,
  /** The invoices that left parts of it since one used it last. Rows of release 0.1.0 lack it. */
  carried_by: z.array(z.string()).default([]),
  version: z.int().min(0),
});
export type BillingState = z.output<typeof BillingState>;

export const NOTHING_BILLED: BillingState = { last_closed_month: null, carried_forward_nanos: 0n, carried_by: [], version: 0 };

/** The key of the file of a billed day, or of an invoice's inputs, in the bucket for billing. */
export const billedFileKey = (organization: string, month: string, sha256: string): string =>
  `billed/${organization}/${month}/${sha256}.json`;
