import * as z from 'zod';
import { MAX_PRICES, ModelName } from '../../../shared/models/model.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { figuresOf, NewFigures, PriceFigures } from '../../../shared/prices/price-version.ts';
import { OrganizationId } from '../organizations/organization.ts';

/** A price version of a model, which never changes. */
export const PriceResource = PriceFigures.omit({ version: true }).extend({
  object: z.literal('price'),
  id: z.string().meta({ description: 'The id of the price version. Usage events refer to it.' }),
  model: z.string(),
  organization: z.string().nullable().meta({ description: 'The organization whose deployment the model is; null: a shared model.' }),
});
export type PriceResource = z.infer<typeof PriceResource>;

export const PriceList = z.object({ object: z.literal('list'), data: z.array(PriceResource).max(MAX_PRICES) });
export type PriceList = z.infer<typeof PriceList>;

export const PricedModel = z.strictObject({
  model: ModelName.meta({ description: 'The name of a model.' }),
  organization: OrganizationId.optional().meta({ description: 'The organization whose deployment the model is. Default: a shared model.' }),
});
export type PricedModel = z.output<typeof PricedModel>;

export const NewPrice = PricedModel.extend(NewFigures.shape);
export type NewPrice = z.output<typeof NewPrice>;

export const PriceRequest = NewPrice.extend({
  validate_only: z.boolean().default(false).meta({ description: 'If true, nothing is added: the reply says what would change.' }),
});

/** The change that a new price version would be. */
export const PricePreview = z.object({
  object: z.literal('price_preview'),
  price: PriceResource.omit({ id: true }).meta({ description: 'The price version that would be added.' }),
  replaces: PriceResource.nullable().meta({ description: 'The price version that applies until then; null: none.' }),
  replaced_at: z.int().nullable().meta({
    description: 'When a version that is scheduled already would replace it. Unix time in seconds; null: none is.',
  }),
});
export type PricePreview = z.infer<typeof PricePreview>;

/** Converts a price version to the wire. */
export const toPriceResource = (price: Price, model: string, organization: string | null): PriceResource => {
  const { version: id, ...figures } = figuresOf(price);
  return { object: 'price', id, model, organization, ...figures };
};
