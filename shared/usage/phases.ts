import * as z from 'zod';

/**
 * The steps of a request whose ends its event records, in their order. `invoked`: the last target was called; between
 * `fitted` and `invoked`, earlier targets were tried, or the request waited for a deployment to wake. `accepted`: the
 * target's response began. `answered`: the answer was complete.
 */
export const STEPS = ['parsed', 'admitted', 'fitted', 'invoked', 'accepted', 'answered'] as const;

/** When each of the steps ended, in ms from the arrival of the request; null: it did not end. */
export const StepEnds = z.array(z.int().min(0).nullable()).length(STEPS.length);
export type StepEnds = z.infer<typeof StepEnds>;

/**
 * The phases of a request, in their order, as people see them. `wait`: earlier targets were tried, or the request
 * waited for a deployment to wake.
 */
export const PHASES = ['parse', 'admit', 'fit', 'wait', 'invoke', 'first_token', 'generate', 'settle'] as const;
export type PhaseName = (typeof PHASES)[number];

/** A phase, in ms from the arrival of the request. */
export interface Phase {
  name: PhaseName;
  from_ms: number;
  to_ms: number;
}

export interface Timed {
  step_ends_ms?: StepEnds | undefined;
  time_to_first_token_ms: number | null;
  duration_ms: number;
  tries?: number | undefined;
}

// In the order of `PHASES`; null: it did not end.
const endsOf = (steps: StepEnds, { time_to_first_token_ms, duration_ms }: Timed): (number | null)[] => {
  const [parsed = null, admitted = null, fitted = null, invoked = null, accepted = null, answered = null] = steps;
  return [parsed, admitted, fitted, invoked, accepted, time_to_first_token_ms, answered, duration_ms];
};

/**
 * The phases that a request went through, without gaps. A request that failed has no phases after the one in which it
 * failed, except `settle`. `wait` is left out if there was none. Empty for events without steps.
 */
export const phasesOf = (event: Timed): Phase[] => {
  if (!event.step_ends_ms) return [];
  const ends = endsOf(event.step_ends_ms, event);
  const phases: Phase[] = [];
  let from_ms = 0;
  for (let i = 0; i < PHASES.length; i++) {
    const name = PHASES[i] as PhaseName;
    // A phase that did not end lasts until the next end that is known.
    while (ends[i] == null && i < PHASES.length - 1) i++;
    // Steps are measured by a clock that can be set back.
    const to_ms = Math.max(from_ms, ends[i] ?? from_ms);
    if (name !== 'wait' || to_ms > from_ms || (event.tries ?? 1) > 1) phases.push({ name, from_ms, to_ms });
    from_ms = to_ms;
  }
  return phases;
};
