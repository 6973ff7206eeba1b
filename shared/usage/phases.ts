import * as z from 'zod';

/**
 * The steps of a request whose ends its event records, in their order. `invoked`: the last target was called; between `fitted` and `invoked`, earlier
 * targets were tried, or the request waited for a deployment to wake. `accepted`: the target's response began. `answered`: the answer was complete.
 */
export const STEPS = ['parsed', 'admitted', 'fitted', 'invoked', 'accepted', 'answered'] as const;

/** When each of the steps ended, in ms from the arrival of the request; null: it did not end. */
export const StepEnds = z.array(z.int().min(0).nullable()).length(STEPS.length);
export type StepEnds = z.infer<typeof StepEnds>;
