import * as z from 'zod';
import { InstancePhase } from '../deployments/deployment.ts';
import { dollarsOf } from '../prices/dollars.ts';
import { SECOND_MS, unixSeconds } from '../time/units.ts';
import { Outcome, type UsageEvent } from '../usage/event.ts';
import type { GpuEvent } from '../usage/gpu-event.ts';

const Rated = {
  cost: z.string().meta({ description: 'What is charged: an exact decimal number. Negative if a later rating lowered the price.' }),
  price_version: z.string().nullable().meta({ description: 'The price version that it was rated by.' }),
  rerate: z.string().nullable().meta({ description: 'The operation that rated it again. The event then only has the difference in cost.' }),
  rated_from: z.string().nullable().meta({ description: 'The price version that it was rated by before.' }),
  is_capped: z.boolean().meta({ description: 'It would have cost more than what was held, or left of the credit, for it.' }),
  is_prepaid: z.boolean().meta({ description: 'It was paid from prepaid credit.' }),
};
const Seconds = z.int().meta({ description: 'Unix time in seconds.' });

export const UsageEventRecord = z.object({
  object: z.literal('usage_event'),
  id: z.string().meta({ description: 'The id of the request. A later rating has the id of its request, `#` and a number.' }),
  organization: z.string(),
  api_key_id: z.string(),
  project_id: z.string().nullable().meta({ description: 'The project of the API key at that time.' }),
  admitted_at: Seconds,
  model: z.string().nullable(),
  route: z.string().nullable(),
  endpoint: z.string().nullable(),
  stream: z.boolean().nullable(),
  outcome: Outcome,
  error_code: z.string().nullable(),
  finish_reason: z.string().nullable(),
  time_to_first_token_ms: z.int().nullable(),
  duration_ms: z.int(),
  prompt_tokens: z.int(),
  cached_tokens: z.int(),
  completion_tokens: z.int(),
  source: z.enum(['runtime', 'estimated']).meta({ description: "Who counted the tokens: the model's runtime, or Sluice." }),
  is_overcounted: z.boolean().meta({ description: "The runtime's count was impossible, so Sluice counted." }),
  ...Rated,
  user: z.string().nullable(),
  user_id: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
});
export type UsageEventRecord = z.infer<typeof UsageEventRecord>;

export const GpuTimeEventRecord = z.object({
  object: z.literal('gpu_time_event'),
  id: z.string(),
  organization: z.string(),
  deployment: z.string(),
  model: z.string().meta({ description: 'The served name of the deployment.' }),
  generation: z.int(),
  instance_type: z.string(),
  instances: z.int(),
  phase: InstancePhase,
  started_at: Seconds,
  ended_at: Seconds.meta({ description: 'Exclusive (Unix time in seconds).' }),
  seconds: z.int().meta({ description: 'How long each of the instances ran.' }),
  ...Rated,
});
export type GpuTimeEventRecord = z.infer<typeof GpuTimeEventRecord>;

const ratedOf = ({ cost_nanos, price_version, rerate, is_capped, is_prepaid }: UsageEvent | GpuEvent) => ({
  cost: dollarsOf(cost_nanos),
  price_version,
  rerate: rerate?.id ?? null,
  rated_from: rerate?.from ?? null,
  is_capped: is_capped ?? false,
  is_prepaid: is_prepaid ?? false,
});

export const usageEventRecord = (event: UsageEvent): UsageEventRecord => ({
  object: 'usage_event',
  id: event.request_id,
  organization: event.org_id,
  api_key_id: event.key_id,
  project_id: event.project_id ?? null,
  admitted_at: unixSeconds(event.admitted_at),
  model: event.model ?? null,
  route: event.route ?? null,
  endpoint: event.endpoint ?? null,
  stream: event.stream ?? null,
  outcome: event.outcome,
  error_code: event.error_code ?? null,
  finish_reason: event.finish_reason,
  time_to_first_token_ms: event.time_to_first_token_ms,
  duration_ms: event.duration_ms,
  prompt_tokens: event.prompt_tokens,
  cached_tokens: event.cached_tokens,
  completion_tokens: event.completion_tokens,
  source: event.source,
  is_overcounted: event.is_overcounted ?? false,
  ...ratedOf(event),
  user: event.user ?? null,
  user_id: event.user_id ?? null,
  metadata: event.metadata ?? null,
});

export const gpuTimeEventRecord = (event: GpuEvent): GpuTimeEventRecord => ({
  object: 'gpu_time_event',
  id: event.id,
  organization: event.org_id,
  deployment: event.deployment_id,
  model: event.name,
  generation: event.generation,
  instance_type: event.instance_type,
  instances: event.instances,
  phase: event.phase,
  started_at: event.started_at / SECOND_MS,
  ended_at: event.ended_at / SECOND_MS,
  seconds: event.seconds,
  ...ratedOf(event),
});
