import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { MAX_PRICES } from '../../../shared/models/model.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import { newestFirst, toPrice } from '../../../shared/prices/price-version.ts';
import type { Actor } from '../access/actor.ts';
import { changeableModel, modelIn, poolOf } from '../model-registry/find-model.ts';
import { organizationOf } from '../model-registry/model-resource.ts';
import { checkRoom, effectiveAt } from './effective-at.ts';
import { type NewPrice, type PricedModel, type PriceList, type PriceResource, toPriceResource } from './price-resource.ts';

export interface PriceRouteDependencies extends AuditDependencies {
  models: ModelStore;
}

/**
 * Adds a price version, which applies to requests from its `effective_at` on. @throws 400, 404, 409, 412 after a
 * concurrent change
 */
export const addPrice = async (deps: PriceRouteDependencies, { origin }: Actor, body: NewPrice): Promise<PriceResource> => {
  const { model: name, organization, ...figures } = body;
  const pool = poolOf(organization);
  const before = await changeableModel(deps, pool, name);
  const effective_at = effectiveAt(figures.effective_at, origin.nowMs);
  checkRoom(before.prices, effective_at, { max: MAX_PRICES, advice: 'Register the model under another name.' });
  const price = { ...toPrice(figures, origin.nowMs), effective_at };
  const resource = toPriceResource(price, name, organizationOf(pool));
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
