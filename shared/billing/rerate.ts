import * as z from 'zod';
import { InstancePrice } from '../prices/instance-price.ts';
import { Price } from '../prices/price.ts';
import { Nanos } from '../usage/event.ts';

// The usage that is rated again, and the price versions, as they were when the rerate was created. Versions never
// change.
const Subject = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('model'), name: z.string(), from: Price, to: Price }),
  z.object({ kind: z.literal('instance_type'), name: z.string(), from: InstancePrice, to: InstancePrice }),
]);

/** A preview computes what an execution would change. */
export const ReratePhase = z.enum(['preview', 'execution']);
export type ReratePhase = z.infer<typeof ReratePhase>;

/**
 * A correction of a wrong price: usage in [start_time, end_time) that is rated by one price version is rated by
 * another one. Times are ms.
 */
export const Rerate = z.object({
  id: z.string(),
  subject: Subject,
  start_time: z.int(),
  end_time: z.int(),
  /** Null: all organizations. */
  organization: z.string().nullable(),
  reason: z.string(),
  /** The id of the user who created it. */
  actor: z.string(),
  created_at: z.int(),
  /** Without a preview, the time of its creation. */
  executed_at: z.int().nullable(),
  phase: ReratePhase,
  version: z.int().min(1),
});
export type Rerate = z.output<typeof Rerate>;

/** Events that are rated again, and what they cost before and after, in nano-dollars. */
export const RerateSums = z.object({ events: z.int(), old_nanos: Nanos, new_nanos: Nanos });
export type RerateSums = z.output<typeof RerateSums>;

/** Progress of a phase in an organization. */
export const RerateProgress = z.object({
  organization: z.string(),
  is_done: z.boolean(),
  /** The last key or deployment and day that the sums include; null: none. */
  cursor: z.string().nullable(),
  /** The number of times that the task has continued itself. */
  step: z.int().min(0),
  /** By UTC month of the usage. */
  months: z.record(z.string(), RerateSums),
  version: z.int().min(1),
});
export type RerateProgress = z.output<typeof RerateProgress>;

/** Progress of a phase in all organizations together. */
export const RerateTotals = RerateSums.extend({
  /** Organizations in which it has begun, and in which it is done. */
  begun: z.int(),
  done: z.int(),
});
export type RerateTotals = z.output<typeof RerateTotals>;

/** Distinguishes the messages of both phases, whose tasks are the same: see `BillingTasks.send`. */
export const messageStep = (phase: ReratePhase, step: number): number => 2 * step + (phase === 'execution' ? 1 : 0);

/** The sums of all these months. */
export const sumMonths = (progress: readonly Pick<RerateProgress, 'months'>[]): RerateSums =>
  progress
    .flatMap(({ months }) => Object.values(months))
    .reduce(
      (sum, month) => ({
        events: sum.events + month.events,
        old_nanos: sum.old_nanos + month.old_nanos,
        new_nanos: sum.new_nanos + month.new_nanos,
      }),
      { events: 0, old_nanos: 0n, new_nanos: 0n },
    );

/** The totals of all these organizations. */
export const totalsOf = (progress: readonly RerateProgress[]): RerateTotals => ({
  begun: progress.length,
  done: progress.filter(({ is_done }) => is_done).length,
  ...sumMonths(progress),
});

/** The difference that an organization's progress makes to the totals. @param before undefined: nothing was stored */
export const totalsAdded = (before: RerateProgress | undefined, after: RerateProgress): RerateTotals => {
  const [one, other] = [totalsOf(before ? [before] : []), totalsOf([after])];
  return {
    begun: other.begun - one.begun,
    done: other.done - one.done,
    events: other.events - one.events,
    old_nanos: other.old_nanos - one.old_nanos,
    new_nanos: other.new_nanos - one.new_nanos,
  };
};
