import type { Rerate } from '../../../../shared/billing/rerate.ts';
import type { CatalogueStore } from '../../../../shared/deployments/catalogue-store.ts';
import { InvalidValue } from '../../../../shared/http/errors.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { NewRerate } from './rerate-resource.ts';

export interface PriceLookup {
  models: Pick<ModelStore, 'get' | 'retiredPrices'>;
  catalogue: Pick<CatalogueStore, 'prices'>;
}

const versionOf = <Version extends { version: string }>(
  prices: readonly Version[],
  body: NewRerate,
  param: 'from_version' | 'to_version',
  advice: string,
): Version => {
  const price = prices.find(({ version }) => version === body[param]);
  if (price) return price;
  throw new InvalidValue(
    param,
    `${body.model === undefined ? 'the instance type' : 'the model'} '${body.model ?? body.instance_type}' has no price version '${body[param]}'. ${advice}`,
  );
};

const bothOf = <Version extends { version: string }>(prices: readonly Version[], body: NewRerate, advice: string) => ({
  from: versionOf(prices, body, 'from_version', advice),
  to: versionOf(prices, body, 'to_version', advice),
});

/**
 * Finds a rerate's model or instance type with both price versions, also of a deleted model.
 * @throws 400 if one of the versions does not exist
 */
export const findPrices = async ({ models, catalogue }: PriceLookup, body: NewRerate): Promise<Rerate['subject']> => {
  const { model, instance_type: name = '', organization } = body;
  if (model === undefined) {
    const advice = '`GET /v1/instance-types/{id}` lists its price versions';
    return { kind: 'instance_type', name, ...bothOf(await catalogue.prices(name), body, advice) };
  }
  const pricesIn = async (pool: string) => [
    ...((await models.get(pool, model))?.prices ?? []),
    ...(await models.retiredPrices(pool, model)),
  ];
  const own = organization === undefined ? [] : await pricesIn(organization);
  const isOwn = own.some(({ version }) => version === body.from_version);
  const prices = isOwn ? own : await pricesIn(SERVERLESS_POOL);
  return { kind: 'model', name: model, ...bothOf(prices, body, '`GET /v1/prices` lists the price versions of a model') };
};
