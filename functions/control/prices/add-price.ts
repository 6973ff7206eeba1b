import { Conflict, InvalidRequest } from '../../../shared/http/errors.ts';
import { MAX_PRICES, type Model } from '../../../shared/models/model.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import { newestFirst, toPrice } from '../../../shared/prices/price-version.ts';
import type { Actor } from '../access/actor.ts';
import { type AuditDependencies, commit } from '../audit/commit.ts';
import { modelIn, poolOf } from '../model-registry/find-model.ts';
import { organizationOf } from '../model-registry/model-resource.ts';
import { type NewPrice, type PricedModel, type PriceList, type PriceResource, toPriceResource } from './price-resource.ts';

export interface PriceDependencies extends AuditDependencies {
  models: ModelStore;
}

/** Allows for differing clocks. */
const MAX_PAST_MS = 60_000;

/** A time in the last minute counts as now, because requests since then were billed at the previous price. @throws 400 */
const effectiveAt = (seconds: number | undefined, nowMs: number): number => {
  if (seconds === undefined) return nowMs;
  if (seconds * 1_000 < nowMs - MAX_PAST_MS)
    throw new InvalidRequest({
      param: 'effective_at',
      message: "Invalid value for 'effective_at': expected a time at most a minute in the past. Earlier usage is already billed.",
    });
  return Math.max(seconds * 1_000, nowMs);
};

const checkRoom = ({ prices }: Model, effectiveAtMs: number): void => {
  if (prices.length >= MAX_PRICES)
    throw new Conflict({
      code: 'too_many_prices',
      message: `A model can have at most ${MAX_PRICES} price versions, and they are never removed. Register the model under another name.`,
    });
  if (prices.some(({ effective_at }) => effective_at === effectiveAtMs))
    throw new Conflict({
      code: 'price_exists',
      param: 'effective_at',
      message: 'This model already has a price that takes effect at this time. Choose another time.',
    });
};

/** Adds a price version, which applies to requests from its `effective_at` on. @throws 400, 404, 409, 412 after a concurrent change */
export const addPrice = async (deps: PriceDependencies, { origin }: Actor, body: NewPrice): Promise<PriceResource> => {
  const { model: name, organization, ...figures } = body;
  const pool = poolOf(organization);
  const before = await modelIn(deps, pool, name);
  const effective_at = effectiveAt(figures.effective_at, origin.nowMs);
  checkRoom(before, effective_at);
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

/** All price versions of a model, newest first. @throws 404 */
export const listPrices = async (deps: PriceDependencies, { model: name, organization }: PricedModel): Promise<PriceList> => {
  const pool = poolOf(organization);
  const { prices } = await modelIn(deps, pool, name);
  return { object: 'list', data: newestFirst(prices).map((price) => toPriceResource(price, name, organizationOf(pool))) };
};
