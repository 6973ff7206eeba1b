import { requestTimeMs } from '../../shared/ids/request-id.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { STEPS } from '../../shared/usage/phases.ts';

type Step = (typeof STEPS)[number];

/** The times of a request's steps, in ms from its arrival. */
export interface RequestTimes {
  /** In ms since the epoch. */
  arrivedAtMs: number;
  /** The finished steps in their order, with the time of their end. */
  steps: readonly { step: Step; ms: number }[];
  /** The call to the model. Undefined if none was made or its time is unknown. */
  call?: { fromMs: number; toMs: number; firstChunkMs?: number };
}

export const timesOf = (event: UsageEvent): RequestTimes => {
  const { step_ends_ms = [], duration_ms, time_to_first_token_ms } = event;
  const steps = STEPS.flatMap((step, i) => {
    const ms = step_ends_ms[i] ?? null;
    return ms === null ? [] : [{ step, ms }];
  });
  const endOf = (of: Step): number | undefined => steps.find(({ step }) => step === of)?.ms;
  const fromMs = endOf('invoked');
  const arrivedAtMs = requestTimeMs(event.request_id);
  if (fromMs === undefined) return { arrivedAtMs, steps };
  const toMs = Math.max(fromMs, endOf('answered') ?? duration_ms);
  const firstChunkMs = time_to_first_token_ms === null ? undefined : Math.max(0, time_to_first_token_ms - fromMs);
  return { arrivedAtMs, steps, call: { fromMs, toMs, ...(firstChunkMs !== undefined && { firstChunkMs }) } };
};
