import type { Admission } from '../../functions/inference/admission/admit.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';

/** The usage event of a completed request. */
export const eventOf = (admission: Admission, used: { tokens: number; costNanos: bigint }): UsageEvent => ({
  request_id: admission.requestId,
  key_id: admission.keyId,
  org_id: admission.organization,
  model: 'm',
  prompt_tokens: used.tokens,
  cached_tokens: 0,
  completion_tokens: 0,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: admission.admittedAtMs,
  time_to_first_token_ms: 5,
  duration_ms: 10,
  cost_nanos: used.costNanos,
  price_version: '1',
  ...(admission.isPrepaid && { is_prepaid: true as const }),
});
