import * as z from 'zod';
import type { Model } from '../../../shared/models/model.ts';
import { type ModelReader, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { priceAt } from '../../../shared/prices/price.ts';
import { figuresOf, PriceFigures } from '../../../shared/prices/price-version.ts';
import { priceAfter } from './effective-at.ts';

const PricedEntry = PriceFigures.extend({
  model: z.string(),
  next: PriceFigures.nullable().meta({ description: 'The next scheduled price; null: none.' }),
});
type PricedEntry = z.infer<typeof PricedEntry>;

export const PriceSheet = z.object({
  object: z.literal('list'),
  pricing: z.array(PricedEntry).meta({ description: 'One entry for each published shared model with a current price, sorted by name.' }),
});
export type PriceSheet = z.infer<typeof PriceSheet>;

const entryOf = ({ name, prices }: Model, nowMs: number): PricedEntry | undefined => {
  const price = priceAt(prices, nowMs);
  const next = priceAfter(prices, nowMs);
  return price && { model: name, ...figuresOf(price), next: next ? figuresOf(next) : null };
};

/** Returns the prices of the published shared models at `nowMs`, sorted by name. */
export const priceSheet = async ({ models }: { models: ModelReader }, nowMs: number): Promise<PriceSheet> => {
  const published = [...(await models.list(SERVERLESS_POOL)).values()].filter(({ status }) => status === 'published');
  const pricing = published.map((model) => entryOf(model, nowMs)).filter((entry) => entry !== undefined);
  return { object: 'list', pricing: pricing.sort((a, b) => (a.model < b.model ? -1 : 1)) };
};
