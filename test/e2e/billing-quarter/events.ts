import { gpuCostNanos } from '../../../shared/prices/instance-price.ts';
import { costNanos, type Price } from '../../../shared/prices/price.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { type GpuEvent, gpuEventId } from '../../../shared/usage/gpu-event.ts';
import type { GpuTime, Request, Script, TokenPrice } from './script.ts';

export const priceOf = ({ version, effectiveMs, prompt, cached, completion }: TokenPrice): Price => ({
  version,
  effective_at: effectiveMs,
  prompt_nanos: Number(prompt),
  ...(cached !== undefined && { cached_prompt_nanos: Number(cached) }),
  completion_nanos: Number(completion),
});

/** The events that the service writes for what is used in a script. */
export const createEvents = ({ models, types }: Pick<Script, 'models' | 'types'>) => ({
  ofRequest: (request: Request): UsageEvent => {
    const { model, version, prompt, cached, completion, holdNanos, isPrepaid } = request;
    const price = models[model ?? '']?.find((each) => each.version === version);
    const tokens = { promptTokens: prompt, cachedTokens: cached, completionTokens: completion };
    const cost = price ? costNanos(priceOf(price), tokens) : BigInt(prompt + completion);
    const isCapped = holdNanos !== undefined && cost > holdNanos;
    return {
      request_id: request.id,
      key_id: request.key,
      org_id: request.org,
      ...(model !== null && { model, route: '/v1/chat/completions' }),
      prompt_tokens: prompt,
      cached_tokens: cached,
      completion_tokens: completion,
      source: 'runtime',
      outcome: model === null ? 'orphaned' : 'completed',
      finish_reason: null,
      admitted_at: request.atMs,
      time_to_first_token_ms: null,
      duration_ms: 1_000,
      cost_nanos: isCapped ? holdNanos : cost,
      price_version: version,
      ...(isCapped && { is_capped: true as const }),
      ...(isPrepaid && { is_prepaid: true as const }),
      ...(request.user !== null && { user: request.user }),
    };
  },

  ofGpuTime: (ran: GpuTime): GpuEvent => {
    const { atMs, seconds, instances, type, isPrepaid } = ran;
    const of = { deployment_id: ran.deployment, generation: 1, instance_type: type, phase: 'serving' as const, started_at: atMs };
    const price = types[type]?.find(({ version }) => version === ran.version);
    return {
      ...of,
      id: gpuEventId(of),
      org_id: ran.org,
      name: ran.name,
      instances,
      ended_at: atMs + seconds * SECOND_MS,
      seconds,
      cost_nanos: gpuCostNanos({ hour_nanos: Number(price?.hour) }, seconds, instances),
      price_version: ran.version,
      ...(isPrepaid && { is_prepaid: true as const }),
    };
  },
});
