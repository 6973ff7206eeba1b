import * as z from 'zod';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { MAX_ADAPTER_PRICES } from '../../../shared/deployments/catalogue.ts';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { figuresOf, type NewFigures, newestFirst, PriceFigures, toPrice } from '../../../shared/prices/price-version.ts';
import type { Actor } from '../access/actor.ts';
import { checkRoom, effectiveAt } from './effective-at.ts';

export interface AdapterPriceDependencies extends AuditDependencies {
  catalogue: Pick<CatalogueStore, 'adapterPrices' | 'toReplaceAdapterPrices'>;
}

/** A surcharge on the tokens of adapters, which never changes. */
export const AdapterPrice = PriceFigures.omit({ version: true }).extend({
  object: z.literal('adapter_price'),
  id: z.string().meta({ description: 'The id of the price version. Usage events refer to it.' }),
});
export type AdapterPrice = z.infer<typeof AdapterPrice>;

export const AdapterPriceList = z.object({ object: z.literal('list'), data: z.array(AdapterPrice).max(MAX_ADAPTER_PRICES) });
export type AdapterPriceList = z.infer<typeof AdapterPriceList>;

const toResource = (price: Price): AdapterPrice => {
  const { version: id, ...figures } = figuresOf(price);
  return { object: 'adapter_price', id, ...figures };
};

/** Lists the surcharges on the tokens of adapters, newest first. */
export const listAdapterPrices = async ({ catalogue }: AdapterPriceDependencies): Promise<AdapterPriceList> => ({
  object: 'list',
  data: newestFirst((await catalogue.adapterPrices()).prices).map(toResource),
});

/**
 * Adds a surcharge, which applies to the adapters of all organizations from its `effective_at` on. @throws 400, 409,
 * 412 after a concurrent change
 */
export const addAdapterPrice = async (
  deps: AdapterPriceDependencies,
  { origin }: Actor,
  { effective_at: seconds, ...figures }: NewFigures,
): Promise<AdapterPrice> => {
  const { nowMs } = origin;
  const before = await deps.catalogue.adapterPrices();
  const effective_at = effectiveAt(seconds, nowMs);
  checkRoom(before.prices, effective_at, { max: MAX_ADAPTER_PRICES, advice: 'Keep the last one, which stays in force.' });
  const price: Price = { ...toPrice(figures, nowMs), effective_at, is_surcharge: true };
  const resource = toResource(price);
  const change = {
    action: 'adapter_price.added',
    organization: null,
    target: { type: 'adapter_price', id: price.version },
    after: resource,
  };
  await commit(deps, origin, change, [deps.catalogue.toReplaceAdapterPrices({ ...before, prices: [...before.prices, price] })]);
  return resource;
};
