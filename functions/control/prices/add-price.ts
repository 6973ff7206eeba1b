import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import { MAX_PRICES } from '../../../shared/models/model.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import { type Price, priceAt } from '../../../shared/prices/price.ts';
import { newestFirst, toPrice } from '../../../shared/prices/price-version.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { changeableModel, modelIn, poolOf } from '../model-registry/find-model.ts';
import { organizationOf } from '../model-registry/model-resource.ts';
import { checkRoom, effectiveAt, priceAfter } from './effective-at.ts';
import {
  type NewPrice,
  type PricedModel,
  type PriceList,
  type PricePreview,
  type PriceResource,
  toPriceResource,
} from './price-resource.ts';

export interface PriceRouteDependencies extends AuditDependencies {
  models: ModelStore;
}

const planPrice = async ({ models }: PriceRouteDependencies, { nowMs }: Origin, { model: name, organization, ...figures }: NewPrice) => {
  const pool = poolOf(organization);
  const before = await changeableModel({ models }, pool, name);
  const effective_at = effectiveAt(figures.effective_at, nowMs);
  checkRoom(before.prices, effective_at, { max: MAX_PRICES, advice: 'Register the model under another name.' });
  const price = { ...toPrice(figures, nowMs), effective_at };
  return { pool, before, price, toWire: (version: Price) => toPriceResource(version, name, organizationOf(pool)) };
};

/**
 * Returns the price version that would be added, without its id, and the one that applies until then. @throws as
 * `addPrice`
 */
export const previewPrice = async (deps: PriceRouteDependencies, { origin }: Actor, body: NewPrice): Promise<PricePreview> => {
  const { before, price, toWire } = await planPrice(deps, origin, body);
  const replaced = priceAt(before.prices, price.effective_at);
  const next = priceAfter(before.prices, price.effective_at);
  const { id: _, ...added } = toWire(price);
  return {
    object: 'price_preview',
    price: added,
    replaces: replaced ? toWire(replaced) : null,
    replaced_at: next ? unixSeconds(next.effective_at) : null,
  };
};

/**
 * Adds a price version, which applies to requests from its `effective_at` on. @throws 400, 404, 409, 412 after a
 * concurrent change
 */
export const addPrice = async (deps: PriceRouteDependencies, { origin }: Actor, body: NewPrice): Promise<PriceResource> => {
  const { pool, before, price, toWire } = await planPrice(deps, origin, body);
  const resource = toWire(price);
  const change = {
    action: 'price.added',
    organization: organizationOf(pool),
    target: { type: 'price', id: price.version },
    after: resource,
  };
  await commit(deps, origin, change, [deps.models.toReplace(pool, { ...before, prices: [...before.prices, price] })]);
  return resource;
};

/** Lists a model's price versions, newest first. @throws 404 */
export const listPrices = async (deps: PriceRouteDependencies, { model: name, organization }: PricedModel): Promise<PriceList> => {
  const pool = poolOf(organization);
  const { prices } = await modelIn(deps, pool, name);
  return { object: 'list', data: newestFirst(prices).map((price) => toPriceResource(price, name, organizationOf(pool))) };
};
