import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';
import type { NewRating, RatingChange } from './ratings.ts';

type Adjusting = Pick<NewRating<unknown>, 'rerate' | 'from' | 'to'>;

/** The event that adjusts the rating of a request: the difference in cost, without tokens. */
export const usageAdjustment = (
  { original, oldNanos, newNanos, number }: RatingChange<UsageEvent>,
  { rerate, from, to }: Adjusting,
): UsageEvent => {
  const { metadata: _, is_capped: __, is_overcounted: ___, ...facts } = original;
  return {
    ...facts,
    request_id: `${original.request_id}#${number}`,
    prompt_tokens: 0,
    cached_tokens: 0,
    completion_tokens: 0,
    time_to_first_token_ms: null,
    duration_ms: 0,
    cost_nanos: newNanos - oldNanos,
    price_version: to,
    rerate: { id: rerate, from },
  };
};

/** The event that adjusts the rating of GPU time: the difference in cost, without seconds. */
export const gpuAdjustment = (
  { original, oldNanos, newNanos, number }: RatingChange<GpuEvent>,
  { rerate, from, to }: Adjusting,
): GpuEvent => {
  const { is_capped: _, ...facts } = original;
  return {
    ...facts,
    id: `${original.id}#${number}`,
    seconds: 0,
    cost_nanos: newNanos - oldNanos,
    price_version: to,
    rerate: { id: rerate, from },
  };
};
