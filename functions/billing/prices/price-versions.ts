import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { InstancePrice } from '../../../shared/prices/instance-price.ts';
import type { Price } from '../../../shared/prices/price.ts';

export interface PriceStores {
  models: Pick<ModelStore, 'get' | 'retiredPrices'>;
  catalogue: Pick<CatalogueStore, 'prices'>;
}

/**
 * The price versions of an organization's events, including those of deleted models. A shared model's come before those
 * of a deployment with the same name. Each model and instance type is read once.
 */
export const createPriceVersions = ({ models, catalogue }: PriceStores, organization: string) => {
  const read = new Map<string, Promise<readonly (Price | InstancePrice)[]>>();
  const once = <Version extends Price | InstancePrice>(key: string, load: () => Promise<readonly Version[]>) => {
    const versions = read.get(key) ?? load();
    read.set(key, versions);
    return versions as Promise<readonly Version[]>;
  };
  const ofPool = async (pool: string, model: string): Promise<readonly Price[]> => [
    ...((await models.get(pool, model))?.prices ?? []),
    ...(await models.retiredPrices(pool, model)),
  ];
  const ofModel = async (model: string): Promise<readonly Price[]> =>
    (await Promise.all([SERVERLESS_POOL, organization].map((pool) => ofPool(pool, model)))).flat();
  return {
    /** A model's price; undefined if it was removed. */
    ofTokens: async (model: string | null, version: string | null): Promise<Price | undefined> =>
      model === null || version === null
        ? undefined
        : (await once(`model#${model}`, () => ofModel(model))).find((price) => price.version === version),

    /** An instance type's price; undefined if it was removed. */
    ofTime: async (instanceType: string, version: string | null): Promise<InstancePrice | undefined> =>
      (await once(`instance#${instanceType}`, () => catalogue.prices(instanceType))).find((price) => price.version === version),
  };
};
