import * as z from 'zod';
import { DeprecationNotice, deprecationNotice } from '../../shared/models/deprecation.ts';
import { Capabilities, type Model } from '../../shared/models/model.ts';
import { priceAt } from '../../shared/prices/price.ts';
import { Pricing, pricingOf } from '../../shared/prices/price-version.ts';

/**
 * A model as callers see it: OpenAI's fields, and those that a client needs to choose a model and to size a request.
 */
export const ModelEntry = z.object({
  id: z.string().meta({ description: 'The name to send as `model`. It can contain slashes.' }),
  object: z.literal('model'),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  owned_by: z.string(),
  context_length: z.int().meta({ description: 'The maximum number of tokens of prompt and answer together.' }),
  max_output_tokens: z.int().meta({ description: 'The maximum number of tokens in an answer.' }),
  pricing: Pricing.nullable().meta({
    description: 'The current price; null if the model has no price yet and cannot be called.',
  }),
  capabilities: z.object(Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, z.boolean()]))).meta({
    description: 'The features that the model supports. Other features return 400, or are ignored and listed in `x-sluice-ignored`.',
  }),
  deprecation: DeprecationNotice,
});
export type ModelEntry = z.infer<typeof ModelEntry>;

export const ModelList = z.object({ object: z.literal('list'), data: z.array(ModelEntry) });
export type ModelList = z.infer<typeof ModelList>;

/** Converts a model of the inventory to its entry at `nowMs`. */
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
    deprecation: deprecationNotice(model),
  };
};
