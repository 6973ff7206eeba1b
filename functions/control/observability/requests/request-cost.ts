import * as z from 'zod';
import { type ModelStore, SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { decimal, dollarsOf } from '../../../../shared/prices/dollars.ts';
import type { Price } from '../../../../shared/prices/price.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';

const Amount = z.string().meta({ description: 'An exact decimal number.', examples: ['0.000012345'] });

const CostLine = z.object({
  tokens: z.enum(['input', 'cached_input', 'output']).meta({ description: '`input`: the input tokens that the runtime had not cached.' }),
  quantity: z.int(),
  per_million: Amount.meta({ description: 'The price of a million of these tokens.' }),
  amount: Amount.meta({ description: 'Quantity × price. The sum of the lines is rounded once, half up, to nine decimals.' }),
});
export type CostLine = z.infer<typeof CostLine>;

const Rating = z.object({
  id: z.string().meta({ description: 'The id of the usage event: of the request, and of later ratings with `#` and a number.' }),
  price_version: z.string().nullable(),
  rerate: z.string().nullable().meta({ description: 'The operation that rated the request again; null: the first rating.' }),
  charged: Amount.meta({ description: 'What was charged or, by a later rating, the difference: negative if the price became lower.' }),
  lines: z
    .array(CostLine)
    .nullable()
    .meta({ description: 'The tokens at the prices of this version; null if the version is not known any more.' }),
});
export type Rating = z.infer<typeof Rating>;

export const RequestCost = z.object({
  total: Amount.meta({ description: 'The sum of all ratings.' }),
  is_capped: z
    .boolean()
    .meta({ description: 'The tokens cost more than what was held for the request, which is the most that it is charged.' }),
  is_prepaid: z.boolean().meta({ description: 'It was paid from prepaid credit.' }),
  ratings: z.array(Rating),
});
export type RequestCost = z.infer<typeof RequestCost>;

/** The event of a request, and the events that rated it again, in their order. */
export interface RatedRequest {
  original: UsageEvent;
  again: readonly UsageEvent[];
}

// Nano-dollars per million tokens × tokens: 10⁻¹⁵ dollars.
const LINE_DECIMALS = 15;

const lineOf = (tokens: CostLine['tokens'], quantity: number, nanos: number): CostLine => ({
  tokens,
  quantity,
  per_million: dollarsOf(BigInt(nanos)),
  amount: decimal(BigInt(nanos) * BigInt(quantity), LINE_DECIMALS),
});

// By kind of token; kinds without tokens are left out.
const linesOf = (
  { prompt_nanos, cached_prompt_nanos = prompt_nanos, completion_nanos }: Price,
  { prompt_tokens, cached_tokens, completion_tokens }: Pick<UsageEvent, 'prompt_tokens' | 'cached_tokens' | 'completion_tokens'>,
): CostLine[] => {
  const cached = Math.min(cached_tokens, prompt_tokens);
  return [
    lineOf('input', prompt_tokens - cached, prompt_nanos),
    lineOf('cached_input', cached, cached_prompt_nanos),
    lineOf('output', completion_tokens, completion_nanos),
  ].filter(({ quantity }) => quantity > 0);
};

/** Computes the cost of a request by rating. @param prices the price versions that are known */
export const costOf = ({ original, again }: RatedRequest, prices: readonly Price[]): RequestCost => {
  const events = [original, ...again];
  return {
    total: dollarsOf(events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n)),
    is_capped: original.is_capped ?? false,
    is_prepaid: original.is_prepaid ?? false,
    ratings: events.map(({ request_id: id, price_version, rerate, cost_nanos }) => {
      const price = prices.find(({ version }) => version === price_version);
      return {
        id,
        price_version,
        rerate: rerate?.id ?? null,
        charged: dollarsOf(cost_nanos),
        lines: price ? linesOf(price, original) : null,
      };
    }),
  };
};

type ModelPrices = Pick<ModelStore, 'get' | 'retiredPrices'>;

/**
 * Lists the price versions of the request's model, including those of deleted models with its name. Requests of the
 * on-demand host have a user id, also if a shared model answers.
 */
export const pricesOf = async (models: ModelPrices, { model, org_id, user_id, is_shared }: UsageEvent): Promise<Price[]> => {
  if (model === undefined) return [];
  const pool = user_id === undefined || is_shared ? SERVERLESS_POOL : org_id;
  const [current, retired] = await Promise.all([models.get(pool, model), models.retiredPrices(pool, model)]);
  return [...(current?.prices ?? []), ...retired];
};
