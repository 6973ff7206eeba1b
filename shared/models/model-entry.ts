import * as z from 'zod';
import { dollarsPerToken } from '../prices/dollars.ts';
import { type Price, priceAt } from '../prices/price.ts';
import { Capabilities, type Model } from './model.ts';

const Dollars = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .meta({ description: 'Dollars a token: an exact decimal number, without exponent.', examples: ['0.00000005'] });

/** A model as callers see it: OpenAI's shape, and what a client needs to choose it and to fit a request. */
export const ModelEntry = z.object({
  id: z.string().meta({ description: 'The name to send as `model`. It may hold slashes.' }),
  object: z.literal('model'),
  created: z.int().meta({ description: 'Unix time in seconds.' }),
  owned_by: z.string(),
  context_length: z.int().meta({ description: 'Tokens of prompt and answer together.' }),
  max_output_tokens: z.int().meta({ description: 'The most tokens that an answer may have.' }),
  pricing: z
    .object({
      prompt: Dollars,
      cached_prompt: Dollars.meta({ description: 'Of a prompt, for the tokens that the runtime still had from an earlier one.' }),
      completion: Dollars,
    })
    .nullable()
    .meta({ description: 'The price in force now; null where the model has none yet and cannot be called.' }),
  capabilities: z.object(Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, z.boolean()]))).meta({
    description: 'What its runtime can do beside plain text. What it cannot is a 400, or ignored and named in `x-sluice-ignored`.',
  }),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

export const ModelList = z.object({ object: z.literal('list'), data: z.array(ModelEntry) });
export type ModelList = z.infer<typeof ModelList>;

const pricingOf = ({ prompt_nanos, cached_prompt_nanos = prompt_nanos, completion_nanos }: Price) => ({
  prompt: dollarsPerToken(prompt_nanos),
  cached_prompt: dollarsPerToken(cached_prompt_nanos),
  completion: dollarsPerToken(completion_nanos),
});

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
  };
};
