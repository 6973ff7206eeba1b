import * as z from 'zod';
import { exactInteger } from '../../../shared/http/json/json-numbers.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { GpuDay, GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { Actor } from '../access/actor.ts';
import type { CurrencyReads } from '../billing/currency.ts';
import type { UsageGroup, UsageRecord } from '../query/group-usage.ts';
import type { TimeRange } from '../query/time-buckets.ts';
import { COSTS_LIMITS, type CostsQuery } from '../query/usage-query.ts';
import { pageOfBuckets, pageSchema } from './page.ts';
import { readUsage, type UsageDependencies } from './read-usage.ts';

export interface CostsDependencies extends UsageDependencies, CurrencyReads {
  gpuEvents: Pick<GpuEventStore, 'listDays'>;
}

const Name = z.string().nullable();

const CostsResult = z
  .object({
    object: z.literal('organization.costs.result'),
    amount: z.object({
      value: z.number().meta({ description: 'The number nearest to `cost`, which is exact.' }),
      currency: z.string().meta({ description: 'The lower-case ISO 4217 code.', examples: ['usd'] }),
    }),
    cost: z.string().meta({ description: 'The amount: an exact decimal number.', examples: ['12.340000001'] }),
    line_item: Name.meta({
      description: 'The name of a model for its tokens, or `GPU time, ` and an instance type.',
      examples: ['qwen3-8b', 'GPU time, ml.g6.xlarge'],
    }),
    quantity: z
      .unknown()
      .meta({ type: ['integer', 'null'], description: 'Only if grouped by `line_item`: tokens, or instances × seconds.' }),
    quantity_unit: z.enum(['tokens', 'duration_seconds']).nullable(),
    organization: Name,
    project_id: Name,
    api_key_id: Name,
    user_id: Name,
    model: Name,
    deployment: Name,
    api_source: z.null(),
  })
  .meta({
    description:
      'A name is null unless the results are grouped by it, and for costs without it: GPU time belongs to no API key and no project.',
  });
type CostsResult = z.infer<typeof CostsResult>;

export const Costs = pageSchema(CostsResult);

const resultIn =
  (currency: string) =>
  ({ by, sums: { costNanos, quantity, unit } }: UsageGroup): CostsResult => {
    const hasQuantity = by.line_item !== undefined && unit !== null;
    return {
      object: 'organization.costs.result',
      amount: { value: Number(dollarsOf(costNanos)), currency },
      cost: dollarsOf(costNanos),
      line_item: by.line_item ?? null,
      quantity: hasQuantity ? exactInteger(quantity) : null,
      quantity_unit: hasQuantity ? unit : null,
      organization: by.organization ?? null,
      project_id: by.project_id ?? null,
      api_key_id: by.api_key_id ?? null,
      user_id: by.user_id ?? null,
      model: by.model ?? null,
      deployment: by.deployment ?? null,
      api_source: null,
    };
  };

const gpuUsageOf = (organization: string, { day, deploymentId, name, instanceType, instanceSeconds, costNanos }: GpuDay): UsageRecord => ({
  startMs: Date.parse(day),
  by: {
    organization,
    model: name,
    deployment: deploymentId,
    line_item: `GPU time, ${instanceType}`,
    route: null,
    alias: null,
    side: null,
    project_id: null,
    api_key_id: null,
    user_id: null,
  },
  sums: {
    requests: 0,
    promptTokens: 0n,
    cachedTokens: 0n,
    completionTokens: 0n,
    costNanos,
    quantity: instanceSeconds,
    unit: 'duration_seconds',
  },
});

async function* gpuTimeIn(
  { gpuEvents }: CostsDependencies,
  organization: string,
  { fromMs, toMs }: TimeRange,
): AsyncGenerator<UsageRecord> {
  for await (const day of gpuEvents.listDays(organization, dayOf(fromMs), dayOf(toMs - 1))) yield gpuUsageOf(organization, day);
}

/** Returns the costs that an actor can see, by UTC day: of tokens and of GPU time. @throws 400, 404 */
export const costs = async (deps: CostsDependencies, actor: Actor, query: CostsQuery) => {
  const page = await readUsage(deps, actor, query, {
    name: 'costs',
    limits: COSTS_LIMITS,
    spans: ['day'],
    others: (organization, range, filters) => (filters.api_key_id ? [] : [gpuTimeIn(deps, organization, range)]),
  });
  return pageOfBuckets(page, resultIn((await deps.currency()).code.toLowerCase()));
};
