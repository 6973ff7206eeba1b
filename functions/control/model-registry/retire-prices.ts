import type { Write } from '../../../shared/database/transaction.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';

/**
 * Plans the writes that keep the prices of a deleted model, with those of earlier models of that name: usage events
 * refer to their versions.
 */
export const toRetirePrices = async (models: ModelStore, pool: string, { name, prices }: Model): Promise<Write> => {
  const before = await models.retiredPrices(pool, name);
  const added = prices.filter(({ version }) => !before.some((price) => price.version === version));
  return models.toRetire(pool, name, [...before, ...added]);
};
