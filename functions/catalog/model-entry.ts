import * as z from 'zod';
import { ToldDeprecation, toldDeprecation } from '../../shared/models/deprecation.ts';
import { Capabilities, type Model } from '../../shared/models/model.ts';
import { priceAt } from '../../shared/prices/price.ts';
import { Pricing, pricingOf } from '../../shared/prices/price-version.ts';

/** A model as callers see it: OpenAI's shape, and what a client needs to choose it and to fit a request. */
export const ModelEntry = z.object({
  id: z.string().meta({ description: 'The name to send as `model`. It may hold slashes.' }),
  object: z.literal('model'),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  owned_by: z.string(),
  context_length: z.int().meta({ description: 'Tokens of prompt and answer together.' }),
  max_output_tokens: z.int().meta({ description: 'The most tokens that an answer may have.' }),
  pricing: Pricing.nullable().meta({
    description: 'The price in force now; null where the model has none yet and cannot be called.',
  }),
  capabilities: z.object(Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, z.boolean()]))).meta({
    description: 'What its runtime can do beside plain text. What it cannot is a 400, or ignored and named in `x-sluice-ignored`.',
  }),
  deprecation: ToldDeprecation,
});
export type ModelEntry = z.infer<typeof ModelEntry>;

export const ModelList = z.object({ object: z.literal('list'), data: z.array(ModelEntry) });
export type ModelList = z.infer<typeof ModelList>;

/** A model of the inventory as callers see it at `nowMs`. */
export const modelEntryOf = (model: Model, nowMs: number): ModelEntry => {
  const price = priceAt(model.prices, nowMs);
  return {
    id: model.name,
    object: 'model',
    created: model.created,
    owned_by: 'sluice',
    context_length: model.context_length,
    max_output_tokens: model.max_output_tokens,
    pricing: price ? pricingOf(price) : null,
    capabilities: model.capabilities,
    deprecation: toldDeprecation(model),
  };
};
