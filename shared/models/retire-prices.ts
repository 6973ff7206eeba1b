import type { Write } from '../database/transaction.ts';
import type { Model } from './model.ts';
import type { ModelStore } from './model-store.ts';

/**
 * Plans the writes that keep the prices of a deleted model, with those of earlier models of that name: usage events
 * refer to their versions.
 */
export const toRetirePrices = async (
  models: Pick<ModelStore, 'retiredPrices' | 'toRetire'>,
  pool: string,
  { name, prices }: Pick<Model, 'name' | 'prices'>,
): Promise<Write> => {
  const before = await models.retiredPrices(pool, name);
  const added = prices.filter(({ version }) => !before.some((price) => price.version === version));
  return models.toRetire(pool, name, [...before, ...added]);
};
